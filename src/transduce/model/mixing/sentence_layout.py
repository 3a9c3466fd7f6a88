"""Token indices of a packed batch for layers that go along its sentences."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.packed import move_to_device

# B sentences · T tokens of all of them together, end to end


@final
class SentenceLayout:
    """Where each token is in its sentence: built once for a batch and used by every layer."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        sizes = torch.tensor(lengths)
        starts = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        position = torch.arange(len(starts)) - starts  # [T], from 0 in each sentence
        self.before = move_to_device(position, device)  # tokens of its sentence before each
        self.after = move_to_device(sizes.repeat_interleave(sizes) - 1 - position, device)
        rank_by_length = torch.argsort(sizes, descending=True, stable=True).argsort()
        key = position * len(sizes) + rank_by_length.repeat_interleave(sizes)
        order = key.argsort()
        self.order = move_to_device(order, device)  # all first tokens, all second ones, ..
        self.inverse = move_to_device(order.argsort(), device)
        self.batch_sizes = position.bincount()  # sentences with a first token, a second one, ..

    def shift(self, x: Float[Tensor, "T d"], offset: int) -> Float[Tensor, "T d"]:
        """Return each token's neighbour at `offset` in its sentence; zeros past the ends."""
        if offset == 0:
            return x
        outside = self.after < offset if offset > 0 else self.before < -offset
        return x.roll(-offset, 0).masked_fill(outside[:, None], 0)

    def sort_by_position(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """Sort tokens as torch's PackedSequence has them: all first ones, all second ones, ..."""
        return x.index_select(0, self.order)

    def restore_order(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """Sort tokens back from `sort_by_position` to sentence after sentence."""
        return x.index_select(0, self.inverse)
