"""The recurrent and convolutional layers that Table 1 compares with self-attention

Such a layer takes the place of self-attention (section 4); the rest of the model is the same. In
the encoder a position depends on earlier and later positions, in the decoder on earlier ones only.
Like the projections of attention, the convolutions have no biases and no non-linearity, since the
feed-forward network follows.
"""

import math
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from transduce.packed import compute_sentence_starts, move_to_device
from transduce.paper.model import Linear, fill_glorot
from transduce.paper.operations import Operations
from transduce.settings import Architecture

# B sentences · T tokens of a whole batch, end to end · k positions of a kernel

MAX_DILATION = 1 << 20  # longer than any sentence: larger values would change nothing


def build_layer(
    sizes: Architecture, number: int, *, causal: bool
) -> "RecurrentLayer | ConvolutionLayer":
    """Build the LSTM or convolution of layer `number` (from 0); the decoder's are `causal`.

    It has the methods of self-attention except `decode_step`: see `RecomputingModel`.
    """
    if sizes.mixing == "recurrent":
        return RecurrentLayer(sizes.d_model, causal=causal)
    projection = SeparableProjection if sizes.mixing == "separable" else FullProjection
    side = sizes.kernel_size - 1 if causal else sizes.kernel_size // 2
    dilation = compute_dilation(side, number) if sizes.mixing == "dilated" else 1
    offsets = [dilation * (index - side) for index in range(sizes.kernel_size)]
    return ConvolutionLayer(offsets, projection(sizes.kernel_size, sizes.d_model))


def compute_dilation(side: int, number: int) -> int:
    """Return (side + 1)^number: the dilation of layer `number` with `side` neighbours to the left.

    This dilation is 1 more than the layers below reach together, so that a path in one direction
    leads to every position. With a larger one some positions could be reached only by steps back,
    which near the ends of a sentence lead out of the sentence.
    """
    return min((side + 1) ** number, MAX_DILATION)


class OtherLayer(nn.Module):
    """A layer that replaces self-attention; its `bind` lays out a batch, from lengths alone."""

    def bind(
        self,
        operations: Operations,  # noqa: ARG002 - only attention uses them
        lengths: Sequence[int],
    ) -> "SentenceLayout":
        """Return the layout of a batch, computed from its sentences' lengths."""
        return SentenceLayout(lengths)


@final
class RecurrentLayer(OtherLayer):
    """An LSTM of width d_model; in the encoder it has two directions of width d_model / 2."""

    def __init__(self, d_model: int, *, causal: bool) -> None:
        super().__init__()
        width = d_model if causal else d_model // 2
        self.lstm = nn.LSTM(d_model, width, bidirectional=not causal)

    def forward(
        self, x: Float[Tensor, "T d_model"], layout: "SentenceLayout"
    ) -> Float[Tensor, "T d_model"]:
        """Run the LSTM along each sentence; return its state h at every token."""
        layout.move_to(x.device)
        # PackedSequence holds all first tokens, then all second tokens, …
        packed = PackedSequence(x.index_select(0, layout.order), layout.batch_sizes)
        states, _ = self.lstm(packed)
        return states.data.index_select(0, layout.inverse)

    def initialise(self, generator: torch.Generator) -> None:
        """Draw each gate's matrices by Glorot's rule; set biases to 0, the forget gate's to 1."""
        width = self.lstm.hidden_size
        for from_input, from_state, bias, other_bias in self.lstm.all_weights:
            for weight in (from_input, from_state):
                fill_glorot(weight, generator, [width] * 4)
            nn.init.zeros_(bias)
            nn.init.zeros_(other_bias)
            nn.init.ones_(bias.detach()[width : 2 * width])

    @property
    def last_matrix(self) -> None:
        """None, because no matrix of an LSTM is scaled by depth: its initial states are small."""


@final
class ConvolutionLayer(OtherLayer):
    """A convolution over fixed offsets in each sentence, with zeros past the ends    (Table 1)"""

    def __init__(
        self, offsets: Sequence[int], projection: "FullProjection | SeparableProjection"
    ) -> None:
        super().__init__()
        self.offsets, self.projection = tuple(offsets), projection

    def forward(
        self, x: Float[Tensor, "T d_model"], layout: "SentenceLayout"
    ) -> Float[Tensor, "T d_model"]:
        """Compute every position's output from the positions at the kernel's offsets."""
        layout.move_to(x.device)
        return self.projection([layout.shift(x, offset) for offset in self.offsets])

    def initialise(self, generator: torch.Generator) -> None:
        """Draw all initial weights from the generator, by Glorot's rule."""
        self.projection.fill(generator)

    @property
    def last_matrix(self) -> Tensor:
        """The output matrix, which `scale_by_depth` divides by √(number of sub-layers)."""
        return self.projection.output.weight


@final
class FullProjection(nn.Module):
    """One matrix over k concatenated neighbours: O(k n d²) products for n tokens    (Table 1)"""

    def __init__(self, kernel_size: int, d_model: int) -> None:
        super().__init__()
        self.output = Linear(kernel_size * d_model, d_model, bias=False)

    def forward(self, neighbours: Sequence[Float[Tensor, "T d_model"]]) -> Tensor:
        """Multiply the concatenated neighbours of every position by the matrix."""
        return self.output(torch.cat(list(neighbours), dim=1))

    def fill(self, generator: torch.Generator) -> None:
        """Draw the matrix by Glorot's rule, with fan-in k d_model."""
        self.output.fill_glorot(generator)


@final
class SeparableProjection(nn.Module):
    """A weighted sum of k neighbours, then one matrix: O(k n d + n d²) products    (Table 1)"""

    def __init__(self, kernel_size: int, d_model: int) -> None:
        super().__init__()
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


@final
class SentenceLayout:
    """The position of each token in its sentence, and the order of a batch's tokens by position."""

    def __init__(self, lengths: Sequence[int]) -> None:
        sizes = torch.tensor(lengths)
        starts = compute_sentence_starts(lengths).repeat_interleave(sizes)
        self.before = torch.arange(len(starts)) - starts  # number of tokens before each token
        self.after = sizes.repeat_interleave(sizes) - 1 - self.before
        rank_by_length = torch.argsort(sizes, descending=True, stable=True).argsort()
        key = self.before * len(sizes) + rank_by_length.repeat_interleave(sizes)
        self.order = key.argsort()  # indices of all first tokens, then of all second, …
        self.inverse = self.order.argsort()
        self.batch_sizes = self.before.bincount()  # number of first tokens, of second tokens, …

    def move_to(self, device: torch.device) -> None:
        """Move the tensors to a device, if they are elsewhere."""
        if self.order.device != device:
            for name in ("before", "after", "order", "inverse"):
                setattr(self, name, move_to_device(getattr(self, name), device))

    def shift(self, x: Float[Tensor, "T d"], offset: int) -> Float[Tensor, "T d"]:
        """Return each token's neighbour at `offset`, or zeros where it is outside the sentence."""
        if offset == 0:
            return x
        outside = self.after < offset if offset > 0 else self.before < -offset
        return x.roll(-offset, 0).masked_fill(outside[:, None], 0)
