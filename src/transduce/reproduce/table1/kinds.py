"""The rows of Table 1: what the paper prints of each, and what follows for our layers exactly."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from transduce.settings import Architecture

# n positions · d = d_model · k width of a kernel · r size of a neighbourhood


@final
@dataclass(frozen=True)
class Printed:
    """A row of the paper's table, and the powers of n and d that its operations grow with."""

    operations: str
    sequential: str
    path: str
    powers: tuple[float, float | None]  # None where two terms have two powers of d


@final
@dataclass(frozen=True)
class Kind:
    """One kind of layer. Operations are those of the encoder's form, which sees both sides."""

    name: str
    mixing: str
    printed: Printed
    operations: Callable[[int, Architecture], int]  # by hand; a multiplication, an addition: two
    path: Callable[[int, int], int]  # by n and how many places are seen on a side
    path_formula: str
    restricted: bool = False


def projections(kind: Kind, n: int, a: Architecture) -> int:
    """W^Q, W^K, W^V and W^O at n positions; the paper's O(…) leaves them out."""
    by_attention = kind.mixing == "self-attention"
    return 2 * n * a.d_model * a.heads * (2 * a.d_k + 2 * a.d_v) if by_attention else 0


def attention(n: int, a: Architecture) -> int:
    """Q Kᵀ and the weights times V: for every position and head d_k + d_v for each one seen."""
    seen = a.encoder_neighbourhood or n
    return 2 * n * seen * a.heads * (a.d_k + a.d_v)


def recurrent(n: int, a: Architecture) -> int:
    """From each end, four gates of d / 2 numbers over input (d) and state (d / 2)."""
    width = a.d_model // 2
    return 2 * n * 2 * 4 * width * (a.d_model + width)


def convolution(n: int, a: Architecture) -> int:
    """One d x d matrix for each of the k neighbours."""
    return 2 * a.kernel_size * n * a.d_model**2


def separable(n: int, a: Architecture) -> int:
    """One number for each neighbour and channel, then one d x d matrix."""
    return 2 * n * a.d_model * (a.kernel_size + a.d_model)


def side_of(kind: Kind, a: Architecture, *, causal: bool) -> int:
    """m: how many places a layer sees on a side, where it sees only some."""
    if kind.restricted:
        return (a.encoder_neighbourhood - 1) // 2
    return a.kernel_size - 1 if causal else a.kernel_size // 2


def contiguous_layers(n: int, m: int) -> int:
    """How many layers lie between the ends of a sentence when each reaches m places on."""
    return max(1, math.ceil((n - 1) / m))


def dilated_layers(n: int, m: int) -> int:
    """How many, when each reaches m + 1 times as far as the one below it."""
    layers = 1
    while (m + 1) ** layers < n:
        layers += 1
    return layers


KINDS = (
    Kind(
        "self-attention",
        "self-attention",
        Printed("O(n² · d)", "O(1)", "O(1)", (2.0, 1.0)),
        attention,
        lambda _n, _m: 1,
        "1",
    ),
    Kind(
        "recurrent (LSTM)",
        "recurrent",
        Printed("O(n · d²)", "O(n)", "O(n)", (1.0, 2.0)),
        recurrent,
        lambda n, _m: n,
        "n",
    ),
    Kind(
        "convolutional, contiguous",
        "convolution",
        Printed("O(k · n · d²)", "O(1)", "O(n / k)", (1.0, 2.0)),
        convolution,
        contiguous_layers,
        "⌈(n - 1) / m⌉",
    ),
    Kind(
        "convolutional, dilated",
        "dilated",
        Printed("O(k · n · d²)", "O(1)", "O(log_k(n))", (1.0, 2.0)),
        convolution,
        dilated_layers,
        "⌈log_(m+1) n⌉",
    ),
    Kind(
        "separable convolutional",
        "separable",
        Printed("O(k · n · d + n · d²)", "O(1)", "as convolutional", (1.0, None)),
        separable,
        contiguous_layers,
        "⌈(n - 1) / m⌉",
    ),
    Kind(
        "self-attention (restricted)",
        "self-attention",
        Printed("O(r · n · d)", "O(1)", "O(n / r)", (1.0, 1.0)),
        attention,
        contiguous_layers,
        "⌈(n - 1) / m⌉",
        restricted=True,
    ),
)
