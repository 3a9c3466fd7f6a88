"""What each layer costs, as formulas without torch: parameters, operations, memory for training.

One function a layer class; they are not methods of it so that `transduce recipes list` needs no
torch. tests/model/test_every_choice.py compares the formulas with
built models for every value of every setting.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from transduce.settings import Architecture


@final
@dataclass(frozen=True, kw_only=True)
class LayerCounts:
    """The cost of one layer: its parameters, and the products that it takes per position."""

    parameters: int = 0
    products: int = 0  # multiplications with weights, for each position of its input
    memory_products: int = 0  # the same for each position of the encoder's output
    pair_products: int = 0  # multiplications for each pair of positions of its input
    memory_pair_products: int = 0  # and for each pair with a position of the encoder's output
    activations: int = 0  # about how many numbers a position keeps until the backward pass

    def __add__(self, other: "LayerCounts") -> "LayerCounts":
        return LayerCounts(
            **{name: count + getattr(other, name) for name, count in vars(self).items()}
        )

    def __mul__(self, times: int) -> "LayerCounts":
        return LayerCounts(**{name: times * count for name, count in vars(self).items()})


def count_self_attention(a: Architecture) -> LayerCounts:
    """Count self-attention: h heads of W^Q, W^K: d_model x d_k, W^V: d_model x d_v, and W^O    (3.2.2)"""
    weights = a.heads * a.d_model * (2 * a.d_k + 2 * a.d_v)
    return LayerCounts(
        parameters=weights,
        products=weights,
        pair_products=a.heads * (a.d_k + a.d_v),
        activations=2 * a.heads * (2 * a.d_k + a.d_v),
    )


def count_cross_attention(a: Architecture) -> LayerCounts:
    """Count cross-attention: half of its products are over the encoder's output    (section 3.2.3)"""
    own = count_self_attention(a)
    half = own.products // 2
    return LayerCounts(
        parameters=own.parameters,
        products=half,
        memory_products=half,
        memory_pair_products=own.pair_products,
        activations=own.activations,
    )


def count_recurrent_layer(a: Architecture, *, causal: bool) -> LayerCounts:
    """Count an LSTM's four gates over input and state; two of half width in the encoder    (Table 1)

    Each gate has two biases, since torch keeps both.
    """
    directions = 1 if causal else 2
    width = a.d_model // directions
    products = directions * 4 * width * (a.d_model + width)
    return LayerCounts(
        parameters=products + directions * 2 * 4 * width,
        products=products,
        activations=16 * a.d_model,
    )


def count_convolution(a: Architecture) -> LayerCounts:
    """Count one matrix over k neighbours, or k d weights and one matrix if separable    (Table 1)"""
    if a.mixing == "separable":
        weights = a.kernel_size * a.d_model + a.d_model**2
    else:
        weights = a.kernel_size * a.d_model**2
    kept = (a.kernel_size + 4) * a.d_model
    return LayerCounts(parameters=weights, products=weights, activations=kept)


def count_mixing(a: Architecture, *, causal: bool) -> LayerCounts:
    """Count self-attention, or the layer of Table 1 that `architecture.mixing` names instead."""
    if a.mixing == "self-attention":
        return count_self_attention(a)
    if a.mixing == "recurrent":
        return count_recurrent_layer(a, causal=causal)
    return count_convolution(a)


def count_feed_forward(a: Architecture) -> LayerCounts:
    """Count W1, b1 and W2, b2 of max(0, x W1 + b1) W2 + b2    (section 3.3, equation 2)"""
    products = 2 * a.d_model * a.d_ff
    dropped = 2 * a.d_ff if a.feed_forward_dropout else 0
    return LayerCounts(
        parameters=products + a.d_ff + a.d_model,
        products=products,
        activations=3 * a.d_ff + 3 * a.d_model + dropped,
    )


def count_norm(a: Architecture) -> LayerCounts:
    """Count gain and bias of one LayerNorm; each sub-layer has one    (section 3.1)"""
    return LayerCounts(parameters=2 * a.d_model, activations=2 * a.d_model)


def count_final_norm(a: Architecture) -> LayerCounts:
    """Count the norm at the end of a stack: none in the paper's post-norm, one in pre-norm."""
    return count_norm(a) if a.norm == "pre" else LayerCounts()


def count_encoder_layer(a: Architecture) -> LayerCounts:
    """Count an encoder layer: mixing and feed-forward, each with a norm    (section 3.1)"""
    return count_mixing(a, causal=False) + count_feed_forward(a) + count_norm(a) * 2


def count_decoder_layer(a: Architecture) -> LayerCounts:
    """Count a decoder layer: mixing, cross-attention, feed-forward, and their norms    (3.1)"""
    attention = count_mixing(a, causal=True) + count_cross_attention(a)
    return attention + count_feed_forward(a) + count_norm(a) * 3


def count_positions(a: Architecture) -> LayerCounts:
    """Count learned positions, a table in each stack; sinusoids have no parameters    (3.5)"""
    return LayerCounts(
        parameters=2 * a.max_positions * a.d_model if a.positions == "learned" else 0
    )


# How many matrices over the source vocabulary and over the target vocabulary a tie leaves.
MATRICES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"all": (0, 1), "target": (1, 1), "none": (1, 2)}
)


def count_embeddings(a: Architecture, source_symbols: int, target_symbols: int) -> LayerCounts:
    """Count both embeddings and the map before the softmax, which has no bias    (section 3.4)"""
    source, target = MATRICES[a.tie_embeddings]
    return LayerCounts(
        parameters=(source * source_symbols + target * target_symbols) * a.d_model,
        products=a.d_model * target_symbols,  # of the map before the softmax, for each target
    )
