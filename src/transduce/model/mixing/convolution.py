"""Convolutional layers: contiguous, dilated and separable    (Table 1)

Like the projections of attention they are matrices only, without biases, and have no
non-linearity of their own: the feed-forward network follows.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.decoding.layer_cache import LayerCache
from transduce.model.mixing.sentence_layout import SentenceLayout

# T tokens of a whole batch, end to end · R rows · k places of a kernel


@final
class ConvolutionLayer(nn.Module):
    """Every position from those at some offsets of it; past a sentence's ends there are zeros."""

    def __init__(
        self, offsets: Sequence[int], weigh: "FullProjection | SeparableProjection"
    ) -> None:
        super().__init__()
        self.offsets, self.weigh = tuple(offsets), weigh
        d_model = weigh.output.out_features
        self.kept, self.reach = (1, d_model, 0), -min(offsets)  # its inputs

    def forward(
        self, x: Float[Tensor, "T d_model"], sentences: SentenceLayout
    ) -> Float[Tensor, "T d_model"]:
        """The neighbours of every position, weighed."""
        return self.weigh([sentences.moved(x, offset) for offset in self.offsets])

    def step(self, x: Float[Tensor, "R d_model"], past: LayerCache) -> Float[Tensor, "R d_model"]:
        """One symbol more in every row; no offset looks ahead."""
        past.keep(x[:, None], x[:, None, :0])
        return self.weigh([past.rows(past.keys, -offset) for offset in self.offsets])

    if TYPE_CHECKING:
        __call__ = forward


@final
class FullProjection(nn.Module):
    """One matrix over the k neighbours side by side: k n d² multiplications."""

    def __init__(self, kernel: int, d_model: int) -> None:
        super().__init__()
        self.output = nn.Linear(kernel * d_model, d_model, bias=False)

    def forward(self, neighbours: Sequence[Float[Tensor, "T d_model"]]) -> Tensor:
        """Every number of a position from all numbers of its neighbours."""
        return self.output(torch.cat(list(neighbours), dim=1))

    if TYPE_CHECKING:
        __call__ = forward


@final
class SeparableProjection(nn.Module):
    """Each number along the sentence, then all of them at each position: k n d + n d²."""

    def __init__(self, kernel: int, d_model: int) -> None:
        super().__init__()
        self.along = nn.Parameter(torch.empty(kernel, d_model))
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, neighbours: Sequence[Float[Tensor, "T d_model"]]) -> Tensor:
        """A weight for every neighbour and number; then one matrix."""
        weighed = torch.zeros_like(neighbours[0])
        for neighbour, weights in zip(neighbours, self.along, strict=True):
            weighed = torch.addcmul(weighed, neighbour, weights)
        return self.output(weighed)

    if TYPE_CHECKING:
        __call__ = forward
