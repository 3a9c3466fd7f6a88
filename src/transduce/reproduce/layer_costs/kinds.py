"""The rows of Table 1: the paper's printed complexities, and exact formulas for our layers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from transduce.settings import Architecture

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
    """A kind of layer in Table 1, with formulas for its operations and its maximum path length."""

    name: str
    mixing: str  # the value of architecture.mixing for this layer
    printed: PrintedComplexity
    # A layer's operations, given n and the model's sizes; a multiply-add is two operations.
    operations: Callable[[int, Architecture], int]
    # The maximum path length, given n and m, the number of positions reached on each side.
    path: Callable[[int, int], int]
    path_formula: str  # the formula of `path`, for tables
    restricted: bool = False  # whether attention is restricted to a neighbourhood of r positions


def count_projection_operations(kind: LayerKind, n: int, sizes: Architecture) -> int:
    """Count attention's operations in W^Q, W^K, W^V and W^O for n positions; 0 for other layers.

    Table 1 leaves these projections out.
    """
    by_attention = kind.mixing == "self-attention"
    return (
        2 * n * sizes.d_model * sizes.heads * (2 * sizes.d_k + 2 * sizes.d_v) if by_attention else 0
    )


def count_attention_operations(n: int, sizes: Architecture) -> int:
    """Count attention's operations for n positions, Q Kᵀ and weights times V: no projections.

    Restricted attention counts r scores a position, as in Table 1; the kernel computes more.
    """
    keys = sizes.encoder_neighbourhood or n
    return 2 * n * keys * sizes.heads * (sizes.d_k + sizes.d_v)


def count_recurrent_operations(n: int, sizes: Architecture) -> int:
    """Count operations of a bidirectional LSTM over n positions, of width d / 2 per direction."""
    width = sizes.d_model // 2
    return 2 * n * 2 * 4 * width * (sizes.d_model + width)


def count_convolution_operations(n: int, sizes: Architecture) -> int:
    """Count a convolution's operations for n positions, with a d x d matrix per kernel element."""
    return 2 * sizes.kernel_size * n * sizes.d_model**2


def count_separable_operations(n: int, sizes: Architecture) -> int:
    """Count a separable convolution's operations for n positions: d kernels, one d x d matrix."""
    return 2 * n * sizes.d_model * (sizes.kernel_size + sizes.d_model)


def compute_reach_per_side(kind: LayerKind, sizes: Architecture, *, causal: bool) -> int:
    """Return m, how many positions a layer reaches on each side (on the left only if `causal`)."""
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


KINDS = (
    LayerKind(
        "self-attention",
        "self-attention",
        PrintedComplexity("O(n² · d)", "O(1)", "O(1)", (2.0, 1.0)),
        count_attention_operations,
        lambda _n, _m: 1,
        "1",
    ),
    LayerKind(
        "recurrent (LSTM)",
        "recurrent",
        PrintedComplexity("O(n · d²)", "O(n)", "O(n)", (1.0, 2.0)),
        count_recurrent_operations,
        lambda n, _m: n,
        "n",
    ),
    LayerKind(
        "convolutional, contiguous",
        "convolution",
        PrintedComplexity("O(k · n · d²)", "O(1)", "O(n / k)", (1.0, 2.0)),
        count_convolution_operations,
        count_contiguous_layers,
        "⌈(n - 1) / m⌉",
    ),
    LayerKind(
        "convolutional, dilated",
        "dilated",
        PrintedComplexity("O(k · n · d²)", "O(1)", "O(log_k(n))", (1.0, 2.0)),
        count_convolution_operations,
        count_dilated_layers,
        "⌈log_(m+1) n⌉",
    ),
    LayerKind(
        "separable convolutional",
        "separable",
        PrintedComplexity("O(k · n · d + n · d²)", "O(1)", "as convolutional", (1.0, None)),
        count_separable_operations,
        count_contiguous_layers,
        "⌈(n - 1) / m⌉",
    ),
    LayerKind(
        "self-attention (restricted)",
        "self-attention",
        PrintedComplexity("O(r · n · d)", "O(1)", "O(n / r)", (1.0, 1.0)),
        count_attention_operations,
        count_contiguous_layers,
        "⌈(n - 1) / m⌉",
        restricted=True,
    ),
)
