"""Where the sentences of a packed batch lie, for layers that reach along them."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.packed import move_to_device

# B sentences · T tokens of all of them together, end to end


@final
class SentenceLayout:
    """SentenceLayout end to end. Made once for a batch and used by every layer; no padding."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        sizes = torch.tensor(lengths)
        starts = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        place = torch.arange(len(starts)) - starts  # [T], from 0 in each sentence
        self.before = move_to_device(
            place, device
        )  # how many tokens of its sentence stand before each
        self.after = move_to_device(sizes.repeat_interleave(sizes) - 1 - place, device)
        longest_first = torch.argsort(sizes, descending=True, stable=True).argsort()
        turn = place * len(sizes) + longest_first.repeat_interleave(sizes)
        order = turn.argsort()
        self.order = move_to_device(order, device)  # all first tokens, all second ones, ..
        self.back = move_to_device(order.argsort(), device)
        self.rows = place.bincount()  # how many sentences have a first token, a second one, ..

    def moved(self, x: Float[Tensor, "T d"], offset: int) -> Float[Tensor, "T d"]:
        """What stands `offset` places on in the same sentence; past its ends there are zeros."""
        if offset == 0:
            return x
        beyond = self.after < offset if offset > 0 else self.before < -offset
        return x.roll(-offset, 0).masked_fill(beyond[:, None], 0)

    def by_step(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """All first tokens, then all second ones, and so on, of longer sentences first."""
        return x.index_select(0, self.order)

    def end_to_end(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """By sentences again."""
        return x.index_select(0, self.back)
