"""Rescale a model for a program whose layer norms add a different ε to the variance.

Normalising c·x with c²·ε gives the same result as normalising x with ε. So the states between
sub-layers are multiplied by c. Embeddings and the outputs of encoder and decoder stay unchanged.
"""

from dataclasses import replace

import numpy as np

from transduce.exports.weights import Affine, Array, Attention, Layer, Stack, Weights


def scale_states(weights: Weights, factor: float) -> Weights:
    """Return a post-norm model's weights, changed so that inner states are `factor` times as large.

    The first norm of the encoder and of the decoder is not compensated and gets the program's ε,
    because its inputs contain positions, whose scale is fixed.
    """
    stacks = (
        scale_stack(stack, np.float32(factor)) for stack in (weights.encoder, weights.decoder)
    )
    encoder, decoder = stacks
    return replace(weights, encoder=encoder, decoder=decoder)


def scale_stack(stack: Stack, factor: np.float32) -> Stack:
    """Return an encoder or decoder whose states between its first and last norm are scaled."""
    one, layers = np.float32(1), list[Layer]()
    for number, layer in enumerate(stack.layers):
        first = one if number == 0 else factor
        last = one if number == len(stack.layers) - 1 else factor
        layers.append(scale_layer(layer, first, factor, last))
    return replace(stack, layers=tuple(layers))


def scale_layer(layer: Layer, first: np.float32, inside: np.float32, last: np.float32) -> Layer:
    """Adapt a layer to inputs scaled by `first`; scale inner states and output by the others."""
    cross = layer.cross_attention
    if cross is not None:
        cross = replace(
            cross,
            query=cross.query / inside,
            output=cross.output * inside,
            norm=scale_affine(cross.norm, inside),
        )
    return Layer(
        scale_self_attention(layer.self_attention, first, inside),
        cross,
        Affine(layer.inner.weight / inside, layer.inner.bias),
        scale_affine(layer.outer, inside),
        scale_affine(layer.feed_forward_norm, last),
    )


def scale_self_attention(attention: Attention, before: np.float32, after: np.float32) -> Attention:
    """Adapt self-attention to inputs scaled by `before`; scale its norm's outputs by `after`."""
    query, key, value = (one / before for one in (attention.query, attention.key, attention.value))
    output: Array = attention.output * before
    return Attention(query, key, value, output, scale_affine(attention.norm, after))


def scale_affine(affine: Affine, factor: np.float32) -> Affine:
    """Return a linear map, or a norm's gain and bias, multiplied by `factor`."""
    return Affine(affine.weight * factor, affine.bias * factor)
