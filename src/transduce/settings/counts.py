"""Counts of a model's parameters, operations and activations, by formula and without torch.

There is one function for each layer class. They are not methods of these classes, so that
`transduce recipes list` needs no torch. tests/model/test_every_choice.py compares them with built
models for every value of every setting.

With one tied matrix, no biases in projections and V symbols, base has 44,101,632 + 512 V
parameters. V = 37,000 gives 63,045,632 where Table 3 prints 65 million; every printed count except
that of the big model follows from any V from 41,004 to 41,208. Differences between two rows of
Table 3 that have the same d_model do not depend on V.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from transduce.settings.architecture import Architecture
from transduce.settings.recipe import Recipe

USUAL_KEYS = 48  # additive attention stores d_k numbers for each of about this many keys


@final
@dataclass(frozen=True, kw_only=True)
class LayerCounts:
    """Counts of one layer: parameters, multiplications per position, and stored activations."""

    parameters: int = 0
    products: int = 0  # multiplications with weights, per position of the layer's input
    memory_products: int = 0  # multiplications with weights, per position of the encoder's output
    pair_products: int = 0  # multiplications per pair of positions of the layer's input
    memory_pair_products: int = 0  # multiplications per pair of an input and an encoder position
    activations: int = 0  # about how many numbers per position are stored for the backward pass

    def __add__(self, other: "LayerCounts") -> "LayerCounts":
        return LayerCounts(
            **{name: count + getattr(other, name) for name, count in vars(self).items()}
        )

    def __mul__(self, times: int) -> "LayerCounts":
        return LayerCounts(**{name: times * count for name, count in vars(self).items()})


def count_recipe_parameters(recipe: Recipe) -> int:
    """Count the parameters of a recipe's model if each side has `data.vocabulary_size` symbols."""
    symbols = recipe.data.vocabulary_size
    return count_parameters(recipe.architecture, symbols, symbols)


def count_parameters(a: Architecture, source_symbols: int, target_symbols: int) -> int:
    """Count the parameters of a model with vocabularies of the given sizes."""
    layers = count_encoder_layer(a) * a.encoder_depth + count_decoder_layer(a) * a.decoder_depth
    rest = count_positions(a)
    if a.norm == "pre":  # after each stack
        rest += count_norm(a) * 2
    return (layers + rest + count_embeddings(a, source_symbols, target_symbols)).parameters


def count_self_attention(a: Architecture) -> LayerCounts:
    """Count parameters, multiplications and activations of self-attention    (section 3.2.2)

    The parameters are W^Q, W^K and W^V of all heads, and W^O, and their biases if there are any.
    """
    weights = a.heads * a.d_model * (2 * a.d_k + 2 * a.d_v)
    biases = a.heads * (2 * a.d_k + a.d_v) + a.d_model if a.attention_biases else 0
    matrices = a.heads * a.d_k**2 if a.compatibility == "bilinear" else 0
    vectors = a.heads * a.d_k if a.compatibility == "additive" else 0
    # Bilinear and additive compatibility use plain attention, which also stores padded Q, K and V.
    copies = 6 if matrices or vectors else 2
    return LayerCounts(
        parameters=weights + biases + matrices + vectors,
        products=weights + matrices,
        pair_products=a.heads * (a.d_k + a.d_v),
        activations=copies * a.heads * (2 * a.d_k + a.d_v) + vectors * USUAL_KEYS,
    )


def count_cross_attention(a: Architecture) -> LayerCounts:
    """Count parameters, multiplications and activations of cross-attention    (section 3.2.3)

    There are as many parameters as in self-attention. Half of the multiplications with weights are
    done per position of the encoder's output.
    """
    own = count_self_attention(a)
    half = a.heads * a.d_model * (a.d_k + a.d_v)
    return LayerCounts(
        parameters=own.parameters,
        products=own.products - half,
        memory_products=half,
        memory_pair_products=own.pair_products,
        activations=own.activations,
    )


def count_recurrent_layer(a: Architecture, *, causal: bool) -> LayerCounts:
    """Return the counts of one LSTM if `causal`, else of two LSTMs of half the width    (Table 1)

    The encoder has one LSTM for each direction. Each of the four gates has two biases, as in torch.
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
    """Count parameters, multiplications and activations of a convolution    (Table 1)"""
    if a.mixing == "separable":
        weights = a.kernel_size * a.d_model + a.d_model**2
    else:
        weights = a.kernel_size * a.d_model**2
    kept = (a.kernel_size + 4) * a.d_model
    return LayerCounts(parameters=weights, products=weights, activations=kept)


def count_mixing(a: Architecture, *, causal: bool) -> LayerCounts:
    """Count parameters, multiplications and activations of the layer type `a.mixing`.

    The layer is a decoder's if `causal`, else an encoder's.
    """
    if a.mixing == "self-attention":
        return count_self_attention(a)
    if a.mixing == "recurrent":
        return count_recurrent_layer(a, causal=causal)
    return count_convolution(a)


def count_feed_forward(a: Architecture) -> LayerCounts:
    """Count parameters, multiplications and activations of a feed-forward network    (3.3)"""
    products = 2 * a.d_model * a.d_ff
    dropped = 2 * a.d_ff if a.feed_forward_dropout else 0
    dropped += a.d_ff if a.activation == "swish" else 0  # swish stores its input, too
    return LayerCounts(
        parameters=products + a.d_ff + a.d_model,
        products=products,
        activations=3 * a.d_ff + 3 * a.d_model + dropped,
    )


def count_norm(a: Architecture) -> LayerCounts:
    """Count parameters (gain and bias) and activations of one LayerNorm    (section 3.1)"""
    return LayerCounts(parameters=2 * a.d_model, activations=2 * a.d_model)


def count_encoder_layer(a: Architecture) -> LayerCounts:
    """Count parameters, multiplications and activations of an encoder layer    (section 3.1)"""
    return count_mixing(a, causal=False) + count_feed_forward(a) + count_norm(a) * 2


def count_decoder_layer(a: Architecture) -> LayerCounts:
    """Add up the counts of a decoder layer's sub-layers and norms    (section 3.1)"""
    attention = count_mixing(a, causal=True) + count_cross_attention(a)
    return attention + count_feed_forward(a) + count_norm(a) * 3


def count_positions(a: Architecture) -> LayerCounts:
    """Count the parameters of source and target positions; only learned ones have any    (3.5)"""
    return LayerCounts(
        parameters=2 * a.max_positions * a.d_model if a.positions == "learned" else 0
    )


# For each value of `architecture.tie_embeddings`: the number of separate matrices over the source
# vocabulary, and the number over the target vocabulary.
MATRICES: Mapping[str, tuple[int, int]] = {"all": (0, 1), "target": (1, 1), "none": (1, 2)}


def count_embeddings(a: Architecture, source_symbols: int, target_symbols: int) -> LayerCounts:
    """Count parameters of embeddings and output projection, and its multiplications    (3.4)"""
    source, target = MATRICES[a.tie_embeddings]
    biases = target_symbols if a.output_bias else 0
    return LayerCounts(
        parameters=(source * source_symbols + target * target_symbols) * a.d_model + biases,
        products=a.d_model * target_symbols,  # the output projection, per target token
    )


# --- Operations    (section 6.1, Table 2: training cost) ------------------------------------------

# A multiplication and its addition are two operations. Only matrix products are counted: those of
# the projections, the feed-forward networks and the output projection, and attention's products for
# every pair of positions, masked or not. A backward pass counts as two forward passes.


@final
@dataclass(frozen=True)
class TextSize:
    """Sums of a text's sentence lengths and of products of lengths, which give operation counts.

    The sums are over all sentence pairs; a pair has n source and m target tokens.
    """

    source: float  # Σ n, the number of source tokens
    target: float  # Σ m, the number of target tokens
    source_pairs: float  # Σ n², the attention scores of the encoder
    target_pairs: float  # Σ m², the attention scores of the decoder
    cross_pairs: float  # Σ n·m, the attention scores of cross-attention


def count_forward_operations(a: Architecture, symbols: int, text: TextSize) -> float:
    """Count the floating-point operations of a forward pass over a text with V = `symbols`."""
    encoder = count_encoder_layer(a) * a.encoder_depth
    decoder = count_decoder_layer(a) * a.decoder_depth
    layers = text.source * (encoder.products + decoder.memory_products)
    layers += text.source_pairs * encoder.pair_products
    layers += text.target * decoder.products + text.target_pairs * decoder.pair_products
    layers += text.cross_pairs * decoder.memory_pair_products
    logits = text.target * count_embeddings(a, symbols, symbols).products
    return 2 * (layers + logits)


def count_training_operations(a: Architecture, symbols: int, text: TextSize) -> float:
    """Count the operations of a forward and a backward pass, taken as three forward passes."""
    return 3 * count_forward_operations(a, symbols, text)
