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
    """Every token's position in its sentence, and the tokens' order by position, for a batch."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        sizes = torch.tensor(lengths)
        starts = (sizes.cumsum(0) - sizes).repeat_interleave(sizes)
        position = torch.arange(len(starts)) - starts  # [T], from 0 in each sentence
        self.before = move_to_device(position, device)  # number of tokens before each token
        self.after = move_to_device(sizes.repeat_interleave(sizes) - 1 - position, device)
        rank_by_length = torch.argsort(sizes, descending=True, stable=True).argsort()
        key = position * len(sizes) + rank_by_length.repeat_interleave(sizes)
        order = key.argsort()
        self.order = move_to_device(order, device)  # indices of all first tokens, then second, …
        self.inverse = move_to_device(order.argsort(), device)
        self.batch_sizes = position.bincount()  # number of first tokens, of second tokens, …

    def shift(self, x: Float[Tensor, "T d"], offset: int) -> Float[Tensor, "T d"]:
        """Return for each token its neighbour at `offset`, or zeros if outside its sentence."""
        if offset == 0:
            return x
        outside = self.after < offset if offset > 0 else self.before < -offset
        return x.roll(-offset, 0).masked_fill(outside[:, None], 0)

    def sort_by_position(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """Sort tokens as torch's PackedSequence has them: all first tokens, then all second, …"""
        return x.index_select(0, self.order)

    def restore_order(self, x: Float[Tensor, "T d"]) -> Float[Tensor, "T d"]:
        """Put tokens sorted by `sort_by_position` back into the order of the packed batch."""
        return x.index_select(0, self.inverse)
