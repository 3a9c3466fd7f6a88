"""Token indices of a packed batch, for recurrent and convolutional layers and attention windows."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.packed import move_to_device

# B sentences · T tokens of all sentences, end to end


@final
class SentenceLayout:
    """The position of every token in its sentence, and their order by position, for one batch."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        sizes = torch.tensor(lengths)
        starts = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        position = torch.arange(len(starts)) - starts  # [T], from 0 in each sentence
        self.before = move_to_device(position, device)  # tokens before it
        self.after = move_to_device(sizes.repeat_interleave(sizes) - 1 - position, device)
        rank_by_length = torch.argsort(sizes, descending=True, stable=True).argsort()
        key = position * len(sizes) + rank_by_length.repeat_interleave(sizes)
        order = key.argsort()
        self.order = move_to_device(order, device)  # all first tokens, second tokens, …
        self.inverse = move_to_device(order.argsort(), device)
        self.batch_sizes = position.bincount()  # number of first tokens, of second tokens, …

    def shift(self, x: Float[Tensor, "T d"], offset: int) -> Float[Tensor, "T d"]:
        """Return the vector at `offset` from each token in its sentence; zeros past the ends."""
        if offset == 0:
            return x
        outside = self.after < offset if offset > 0 else self.before < -offset
        return x.roll(-offset, 0).masked_fill(outside[:, None], 0)

    def sort_by_position(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """Return tokens in the order of torch's PackedSequence: all first tokens, then second."""
        return x.index_select(0, self.order)

    def restore_order(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """Return tokens from `sort_by_position` to the order of the packed batch."""
        return x.index_select(0, self.inverse)
