"""Convolutional layers: contiguous, dilated and separable    (Table 1)

Like the projections of attention, the convolutions have no biases and no non-linearity, since the
feed-forward network follows.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.attention.kernel import AttentionKernel
from transduce.model.decoding.layer_cache import CacheShape, LayerCache
from transduce.model.linear import Linear
from transduce.model.mixing.mixing import Mixing
from transduce.model.mixing.sentence_layout import SentenceLayout

# T tokens of a whole batch, end to end · R rows, one per hypothesis · k positions of a kernel


@final
class ConvolutionLayer(Mixing[SentenceLayout]):
    """A convolution over fixed offsets in each sentence, with zeros past the ends    (Table 1)"""

    def __init__(
        self, offsets: Sequence[int], projection: "FullProjection | SeparableProjection"
    ) -> None:
        super().__init__()
        self.offsets, self.projection = tuple(offsets), projection
        self.cache_shape, self.reach = CacheShape(1, projection.d_model, 0), -min(offsets)

    def build_context(
        self,
        lengths: Sequence[int],
        kernel: AttentionKernel,  # noqa: ARG002 - only self-attention uses it
        device: torch.device,
    ) -> SentenceLayout:
        """Return the position of every token in its sentence, from the sentences' lengths."""
        return SentenceLayout(lengths, device)

    def forward(
        self, x: Float[Tensor, "T d_model"], layout: SentenceLayout
    ) -> Float[Tensor, "T d_model"]:
        """Compute every position's output from the positions at the kernel's offsets."""
        return self.projection([layout.shift(x, offset) for offset in self.offsets])

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"], cache: LayerCache
    ) -> Float[Tensor, "R d_model"]:
        """Return residual + output for the newest token of R hypotheses, and cache its input."""
        cache.append(cache.group_by_sentence(x), cache.new_values)
        neighbours = [cache.read_back(cache.keys, -offset) for offset in self.offsets]
        return residual + self.projection(neighbours)

    def initialise(self, generator: torch.Generator) -> None:
        """Draw all initial weights from the generator, by Glorot's rule."""
        self.projection.fill(generator)

    @property
    def last_matrix(self) -> Tensor:
        """The output matrix, which `scale_by_depth` divides by √(number of sub-layers)."""
        return self.projection.output.weight

    if TYPE_CHECKING:
        __call__ = forward


@final
class FullProjection(nn.Module):
    """One matrix over k concatenated neighbours: O(k n d²) products for n tokens    (Table 1)"""

    def __init__(self, kernel_size: int, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.output = Linear(kernel_size * d_model, d_model, bias=False)

    def forward(self, neighbours: Sequence[Float[Tensor, "T d_model"]]) -> Tensor:
        """Multiply the concatenated neighbours of every position by the matrix."""
        return self.output(torch.cat(list(neighbours), dim=1))

    def fill(self, generator: torch.Generator) -> None:
        """Draw the matrix by Glorot's rule, with fan-in k d_model."""
        self.output.fill_glorot(generator)

    if TYPE_CHECKING:
        __call__ = forward


@final
class SeparableProjection(nn.Module):
    """Depthwise convolution, then one matrix: O(k n d + n d²) products for n tokens    (Table 1)"""

    def __init__(self, kernel_size: int, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.depthwise = nn.Parameter(torch.empty(kernel_size, d_model))
        self.output = Linear(d_model, d_model, bias=False)

    def forward(self, neighbours: Sequence[Float[Tensor, "T d_model"]]) -> Tensor:
        """Sum the neighbours times their depthwise weights, and multiply the sum by the matrix."""
        total = torch.zeros_like(neighbours[0])
        for neighbour, weights in zip(neighbours, self.depthwise, strict=True):
            total = torch.addcmul(total, neighbour, weights)
        return self.output(total)

    def fill(self, generator: torch.Generator) -> None:
        """Draw the depthwise weights with fan-in = fan-out = k, then the matrix (Glorot's rule)."""
        bound = math.sqrt(6 / (2 * len(self.depthwise)))
        nn.init.uniform_(self.depthwise, -bound, bound, generator=generator)
        self.output.fill_glorot(generator)

    if TYPE_CHECKING:
        __call__ = forward
