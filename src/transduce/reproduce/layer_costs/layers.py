"""The layers of Table 1: printed complexities, our exact formulas, and how each is built.

A layer is built as in a model, for one sentence of n positions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.equip import choose_operations
from transduce.mixing import ConvolutionLayer, RecurrentLayer, find_mixing
from transduce.paper.model import SelfAttention, initialise
from transduce.settings import Architecture
from transduce.settings.counts import count_mixing

# The type in which operations and paths are measured. In it torch runs an LSTM as single
# products, which can be counted, and small gradients over long paths do not round to 0.
EXACT = torch.float64
HEADS = 8  # as in the paper's base model; d_k = d_v = d / h

# n positions · d = d_model · k width of a kernel · r size of a neighbourhood


@final
@dataclass(frozen=True)
class PrintedComplexity:
    """A row of Table 1 as printed, and the powers of length n and width d in its operations."""

    operations: str  # the column "Complexity per Layer"
    sequential: str  # the column "Sequential Operations"
    path: str  # the column "Maximum Path Length"
    powers: tuple[float, float | None]  # of n and d in `operations`; None where d has two powers


@final
@dataclass(frozen=True)
class LayerKind:
    """A kind of layer in Table 1, with a formula for its maximum path length."""

    name: str
    mixing: str  # the value of architecture.mixing for this layer
    printed: PrintedComplexity
    # The maximum path length, given n and m, the number of positions reached on each side.
    path: Callable[[int, int], int]
    path_formula: str  # the formula of `path`, for tables
    restricted: bool = False  # whether attention is restricted to a neighbourhood of r positions


def calculate_operations(n: int, sizes: Architecture) -> tuple[int, int]:
    """Return a layer's operations for n positions as (without projections, projections alone).

    A multiply-add is two operations. Table 1 leaves out the projections, attention's W^Q, W^K, W^V
    and W^O. Restricted attention counts r scores a position, as in Table 1; our layer computes
    more.
    """
    counts = count_mixing(sizes, causal=False)
    if sizes.mixing != "self-attention":
        return 2 * n * counts.products, 0
    keys = sizes.encoder_neighbourhood or n
    return 2 * n * keys * counts.pair_products, 2 * n * counts.products


def compute_reach_per_side(kind: LayerKind, sizes: Architecture, *, causal: bool) -> int:
    """Return m, how many positions a convolution or neighbourhood reaches on each side.

    A causal layer reaches only positions to the left.
    """
    if kind.restricted:
        return (sizes.encoder_neighbourhood - 1) // 2
    return sizes.kernel_size - 1 if causal else sizes.kernel_size // 2


def count_contiguous_layers(n: int, m: int) -> int:
    """Return how many layers connect n positions if each layer reaches m positions further."""
    return max(1, math.ceil((n - 1) / m))


def count_dilated_layers(n: int, m: int) -> int:
    """Return how many layers connect n positions if each layer multiplies the reach by m + 1."""
    layers = 1
    while (m + 1) ** layers < n:
        layers += 1
    return layers


LAYER_KINDS = (
    LayerKind(
        "self-attention",
        "self-attention",
        PrintedComplexity("O(n² · d)", "O(1)", "O(1)", (2.0, 1.0)),
        lambda _n, _m: 1,
        "1",
    ),
    LayerKind(
        "recurrent (LSTM)",
        "recurrent",
        PrintedComplexity("O(n · d²)", "O(n)", "O(n)", (1.0, 2.0)),
        lambda n, _m: n,
        "n",
    ),
    LayerKind(
        "convolutional, contiguous",
        "convolution",
        PrintedComplexity("O(k · n · d²)", "O(1)", "O(n / k)", (1.0, 2.0)),
        count_contiguous_layers,
        "⌈(n - 1) / m⌉",
    ),
    LayerKind(
        "convolutional, dilated",
        "dilated",
        PrintedComplexity("O(k · n · d²)", "O(1)", "O(log_k(n))", (1.0, 2.0)),
        count_dilated_layers,
        "⌈log_(m+1) n⌉",
    ),
    LayerKind(
        "separable convolutional",
        "separable",
        PrintedComplexity("O(k · n · d + n · d²)", "O(1)", "as convolutional", (1.0, None)),
        count_contiguous_layers,
        "⌈(n - 1) / m⌉",
    ),
    LayerKind(
        "self-attention (restricted)",
        "self-attention",
        PrintedComplexity("O(r · n · d)", "O(1)", "O(n / r)", (1.0, 1.0)),
        count_contiguous_layers,
        "⌈(n - 1) / m⌉",
        restricted=True,
    ),
)


# --- A layer for one sentence ---------------------------------------------------------------------


@final
@dataclass(frozen=True)
class MeasuredLayer:
    """A token-mixing layer of Table 1, ready to be applied to one sentence of n positions."""

    mixing: SelfAttention | RecurrentLayer | ConvolutionLayer
    context: Any  # what `mixing.build_attention` returns for a sentence of n positions
    n: int
    d: int

    def __call__(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """Apply the token-mixing layer to the n vectors of one sentence."""
        return self.mixing(x, self.context)

    def random_sentence(self, dtype: torch.dtype) -> Float[Tensor, "n d"]:
        """Return n random vectors of width d that require gradients, equal at every call."""
        generator = torch.Generator().manual_seed(self.n)
        x = torch.randn(self.n, self.d, generator=generator, dtype=dtype)
        return x.requires_grad_()

    def build_update(self) -> Callable[[], None]:
        """Return a function that runs a forward and a backward pass of the layer in float32."""
        x = self.random_sentence(torch.float32)

        def forward_and_back() -> None:
            self.mixing.zero_grad()
            x.grad = None
            self(x).sum().backward()

        return forward_and_back


def build_sizes(kind: LayerKind, d: int, k: int, r: int) -> Architecture:
    """Build a model's settings for a kind of layer, width d, kernel width k, neighbourhood r."""
    return Architecture(
        d_model=d,
        heads=HEADS,
        d_k=d // HEADS,
        d_v=d // HEADS,
        mixing=kind.mixing,
        kernel_size=k,
        encoder_neighbourhood=r if kind.restricted else 0,
        decoder_neighbourhood=r if kind.restricted else 0,
    )


def build_layer(
    n: int,
    sizes: Architecture,
    index: int = 0,
    *,
    dtype: torch.dtype = torch.float32,
    causal: bool = False,
) -> MeasuredLayer:
    """Build the token-mixing sub-layer of encoder layer `index` (of a decoder layer if `causal`).

    The layer is for a sentence of n positions, and computes attention as models do on a CPU.
    `index` counts from 0 and seeds the initial weights.
    """
    mixing = find_mixing(sizes)(sizes, index, causal=causal)
    initialise(mixing, torch.Generator().manual_seed(index))
    operations = choose_operations(sizes, torch.device("cpu"), dtype)
    context = mixing.build_attention(operations, (n,))
    return MeasuredLayer(mixing.to(dtype), context, n, sizes.d_model)
