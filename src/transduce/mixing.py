"""Token mixing: self-attention or, as `architecture.mixing` names it, another layer of Table 1

A recurrent or convolutional layer takes the place of self-attention (section 4), and pictures have
self-attention to squares; the rest of the model is the same. In the encoder a position depends on
earlier and later positions, in the decoder on earlier ones only. Like the projections of attention,
the convolutions have no biases and no non-linearity, since the feed-forward network follows. Such
layers have no cache: `RecomputingModel` computes every prefix anew.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from transduce.packed import Packed, compute_sentence_starts, move_to_device
from transduce.paper.model import (
    BuildMixing,
    EncoderOutput,
    Linear,
    SelfAttention,
    StepwiseTransformer,
    Transformer,
    build_self_attention,
    fill_glorot,
)
from transduce.paper.operations import AttentionMask, Operations
from transduce.paper.search import StepwiseModel
from transduce.settings import Architecture

# B sentences · T tokens of a whole batch, end to end · k positions of a kernel
# R rows, one for each hypothesis · S tokens of a row's source · V symbols

MAX_DILATION = 1 << 20  # longer than any sentence: larger values would change nothing


def find_mixing(sizes: Architecture) -> BuildMixing:
    """Return the function that builds a layer's token mixing: self-attention or a replacement."""
    is_plain = sizes.mixing == "self-attention" and not sizes.neighbourhood_row
    return build_self_attention if is_plain else build_layer


def build_stepwise_model(
    model: Transformer, operations: Operations | None = None
) -> StepwiseModel[Any]:
    """Return a model for a search, with a KV cache if its layers allow it, else without one."""
    sizes = model.sizes
    is_grid = sizes.neighbourhood_row and sizes.decoder_neighbourhood
    has_cache = sizes.mixing == "self-attention" and not is_grid
    return (StepwiseTransformer if has_cache else RecomputingModel)(model, operations)


def build_layer(
    sizes: Architecture, index: int, *, causal: bool
) -> "RecurrentLayer | ConvolutionLayer | SelfAttention":
    """Build the LSTM, convolution or grid attention of layer `index`, of a decoder if `causal`.

    `index` is from 0. The LSTM and the convolution have all methods of `SelfAttention` except
    `decode_step`.
    """
    if sizes.neighbourhood_row:
        return build_grid_attention(sizes, causal=causal)
    if sizes.mixing == "recurrent":
        return RecurrentLayer(sizes.d_model, causal=causal)
    assert sizes.mixing != "self-attention", "`build_self_attention` builds that"
    projection = SeparableProjection if sizes.mixing == "separable" else FullProjection
    side = sizes.kernel_size - 1 if causal else sizes.kernel_size // 2
    dilation = compute_dilation(side, index) if sizes.mixing == "dilated" else 1
    offsets = [dilation * (k - side) for k in range(sizes.kernel_size)]
    return ConvolutionLayer(offsets, projection(sizes.kernel_size, sizes.d_model))


def compute_dilation(side: int, index: int) -> int:
    """Return the dilation of layer `index`: (side + 1)^index, but at most MAX_DILATION.

    `side` is the number of neighbours on the left. This dilation is 1 more than the layers below
    reach together, so that a path in one direction leads to every position. With a larger one, a
    path to some positions needs steps back, and near the ends of a sentence such a path leaves
    the sentence.
    """
    return min((side + 1) ** index, MAX_DILATION)


class ReplacementLayer(nn.Module):
    """Base class of layers in place of self-attention; `forward` takes a `SentenceLayout`."""

    def build_attention(
        self,
        operations: Operations,  # noqa: ARG002 - only attention uses them
        lengths: Sequence[int],
    ) -> "SentenceLayout":
        """Return the batch's `SentenceLayout`, which `forward` takes; ignore `operations`."""
        return SentenceLayout(lengths)


@final
class RecurrentLayer(ReplacementLayer):
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
        """None, so `scale_by_depth` divides no matrix; an untrained LSTM's outputs are small."""


@final
class ConvolutionLayer(ReplacementLayer):
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

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the depthwise weights by Glorot's rule, with fan-in = fan-out = k."""
        bound = math.sqrt(6 / (2 * len(self.depthwise)))
        nn.init.uniform_(self.depthwise, -bound, bound, generator=generator)


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


@final
@dataclass(frozen=True, kw_only=True)
class GridMask(AttentionMask):
    """A mask that lets a position attend to a square around it, for pictures  (sections 4 and 7)

    The positions of a sequence stand in rows of a given length, position i in row i // row and
    column i % row. A position attends to positions at most (r - 1) / 2 rows and as many columns
    away: to all r · r of them in the encoder, and in the decoder to those that do not come later.
    """

    row: int  # positions of a row

    def compute_allowed(
        self, queries: Int[Tensor, " T"], keys: Int[Tensor, " S"]
    ) -> Bool[Tensor, "T S"]:
        """Return a matrix with True where a query position may attend to a key position."""
        apart = torch.stack(
            [
                keys[None, :] // self.row - queries[:, None] // self.row,
                keys[None, :] % self.row - queries[:, None] % self.row,
            ]
        )  # [2 T S], in rows and in columns
        allowed = (apart.abs() <= (self.neighbourhood - 1) // 2).all(dim=0)
        return allowed & (keys[None, :] <= queries[:, None]) if self.causal else allowed

    @property
    def reach(self) -> int:
        """The largest distance in positions from a query to a key, rounded up to whole rows."""
        return (self.neighbourhood + 1) // 2 * self.row


def build_grid_attention(sizes: Architecture, *, causal: bool) -> SelfAttention:
    """Build self-attention to squares of a picture; without a neighbourhood, to all positions."""
    r = sizes.decoder_neighbourhood if causal else sizes.encoder_neighbourhood
    mask = AttentionMask(causal=causal)
    if r:
        mask = GridMask(causal=causal, neighbourhood=r, row=sizes.neighbourhood_row)
    return SelfAttention(sizes, mask)


class Prefixes(NamedTuple):
    """The encoded source of each hypothesis, and its ids so far."""

    sources: list[Float[Tensor, "S d_model"]]  # the encoder's output
    targets: list[list[int]]  # ids, BEGIN first


@final
@dataclass(frozen=True)
class RecomputingModel:
    """A `StepwiseModel` without a cache, which decodes every prefix again at each step."""

    model: Transformer
    operations: Operations | None = None  # None: those of the model

    @property
    def device(self) -> torch.device:
        """The device of the model's weights."""
        return self.model.output.weight.device

    def start(self, sources: Sequence[Sequence[int]]) -> Prefixes:
        """Encode sources (ids that end with END); return a state with an empty row for each."""
        packed = Packed.from_sentences(sources).to(self.device)
        memory = self.model.encode(packed, self.operations)
        return Prefixes(list(memory.states.split(list(memory.lengths))), [[] for _ in sources])

    def step(
        self, state: Prefixes, ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], Prefixes]:
        """Append an id to each of R hypotheses; return next symbols' log P and the new state."""
        targets = [[*row, new] for row, new in zip(state.targets, ids.tolist(), strict=True)]
        memory = EncoderOutput(torch.cat(state.sources), tuple(map(len, state.sources)))
        inputs = Packed.from_sentences(targets).to(self.device)
        states = self.model.decode(inputs, memory, self.operations)
        lasts = compute_sentence_starts(inputs.lengths) + torch.tensor(inputs.lengths) - 1
        logits = self.model.logits(states[lasts.to(self.device)])
        operations = self.operations or self.model.operations
        return operations.log_softmax(logits), state._replace(targets=targets)

    def reorder(self, state: Prefixes, rows: Int[Tensor, " R2"]) -> Prefixes:
        """Return the state of the rows with these indices, in this order."""
        chosen = rows.tolist()
        return Prefixes(
            [state.sources[row] for row in chosen], [state.targets[row] for row in chosen]
        )

    def concatenate(self, first: Prefixes, second: Prefixes) -> Prefixes:
        """Return one state with the rows of both states, those of `first` first."""
        return Prefixes(first.sources + second.sources, first.targets + second.targets)
