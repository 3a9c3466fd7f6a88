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
    """A row of Table 1 as the paper prints it, and the powers of n and d in its operations."""

    operations: str  # the column "Complexity per Layer"
    sequential: str  # the column "Sequential Operations"
    path: str  # the column "Maximum Path Length"
    powers: tuple[float, float | None]  # powers of n and d in `operations`; None: a sum of two


@final
@dataclass(frozen=True)
class LayerKind:
    """A kind of layer in Table 1, with formulas for its operations (in the encoder) and paths."""

    name: str
    mixing: str  # the value of architecture.mixing for this layer
    printed: PrintedComplexity
    # A layer's operations, given n and the model's sizes; a multiply-add is two operations.
    operations: Callable[[int, Architecture], int]
    # The maximum path length, given n and m, the positions that a layer reaches on each side.
    path: Callable[[int, int], int]
    path_formula: str  # the formula of `path`, for tables
    restricted: bool = False  # whether attention is restricted to a neighbourhood of r positions


def count_projection_operations(kind: LayerKind, n: int, a: Architecture) -> int:
    """Count the operations of W^Q, W^K, W^V, W^O, which Table 1's O(n² · d) leaves out."""
    by_attention = kind.mixing == "self-attention"
    return 2 * n * a.d_model * a.heads * (2 * a.d_k + 2 * a.d_v) if by_attention else 0


def count_attention_operations(n: int, a: Architecture) -> int:
    """Count the operations of attention without projections: Q Kᵀ and weights times V."""
    keys = a.encoder_neighbourhood or n
    return 2 * n * keys * a.heads * (a.d_k + a.d_v)


def count_recurrent_operations(n: int, a: Architecture) -> int:
    """Count the operations of a recurrent layer: two LSTMs of half the width, one per direction."""
    width = a.d_model // 2
    return 2 * n * 2 * 4 * width * (a.d_model + width)


def count_convolution_operations(n: int, a: Architecture) -> int:
    """Count the operations of a convolution: a d x d matrix for each of its k neighbours."""
    return 2 * a.kernel_size * n * a.d_model**2


def count_separable_operations(n: int, a: Architecture) -> int:
    """Count the operations of a separable convolution: k per channel, then a d x d matrix."""
    return 2 * n * a.d_model * (a.kernel_size + a.d_model)


def compute_reach_per_side(kind: LayerKind, a: Architecture, *, causal: bool) -> int:
    """Return m, the number of positions that one layer reaches on each side of a position."""
    if kind.restricted:
        return (a.encoder_neighbourhood - 1) // 2
    return a.kernel_size - 1 if causal else a.kernel_size // 2


def count_contiguous_layers(n: int, m: int) -> int:
    """Return the layers that connect n positions if each layer reaches m positions further."""
    return max(1, math.ceil((n - 1) / m))


def count_dilated_layers(n: int, m: int) -> int:
    """Return the layers that connect n positions if each reaches m + 1 times as far as the last."""
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
