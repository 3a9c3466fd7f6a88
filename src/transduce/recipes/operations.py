"""How many operations a model takes, as a formula    (section 6.1, Table 2: training cost)

A multiplication and its addition are two operations. Counted are the products of matrices, which
is all that grows with a model: projections, feed-forward, the map before the softmax, and in
attention every pair of places that meets, masked or not. A backward pass takes twice a forward one.
"""

from dataclasses import dataclass
from typing import final

from transduce.settings import Architecture


@final
@dataclass(frozen=True)
class Text:
    """What is counted over: sums over all pairs of sentences, of n source and m target pieces."""

    source: float  # Σ n
    target: float  # Σ m
    source_pairs: float  # Σ n²
    target_pairs: float  # Σ m²
    cross_pairs: float  # Σ n·m


def forward(a: Architecture, symbols: int, text: Text) -> float:
    """Operations of one forward pass over a text, with so many target symbols."""
    meeting = a.heads * (a.d_k + a.d_v) if a.mixing == "self-attention" else 0
    looks = a.heads * (a.d_k + a.d_v)
    side = a.heads * a.d_model * (a.d_k + a.d_v)  # W^Q and W^O, or W^K and W^V
    network = 2 * a.d_model * a.d_ff
    encoder = text.source * (mixing(a, 2) + network) + text.source_pairs * meeting
    decoder = text.target * (mixing(a, 1) + side + network) + text.target_pairs * meeting
    across = text.source * side + text.cross_pairs * looks
    products = a.layers * (encoder + decoder + across) + text.target * a.d_model * symbols
    return 2 * products


def mixing(a: Architecture, directions: int) -> int:
    """Products a place in self-attention's projections, or in the layer of Table 1 in its place.

    An LSTM to see both sides is two of half the width, each with four gates over input and state.
    """
    d, width = a.d_model, a.d_model // directions
    return {
        "self-attention": a.heads * d * (2 * a.d_k + 2 * a.d_v),
        "recurrent": directions * 4 * width * (d + width),
        "convolution": a.kernel_size * d**2,
        "dilated": a.kernel_size * d**2,
        "separable": a.kernel_size * d + d**2,
    }[a.mixing]


def training(a: Architecture, symbols: int, text: Text) -> float:
    """Forward and backward."""
    return 3 * forward(a, symbols, text)
