"""The same model for a program whose norms add another number to the variance.

Layer normalisation of c·x with c²·ε added to the variance is that of x with ε. So the states
between sub-layers are multiplied by c; embeddings and the output of each stack stay as they are.
"""

from dataclasses import replace

import numpy as np

from transduce.exports.weights import Affine, Array, Attention, Layer, Stack, Weights


def scale_states(weights: Weights, factor: float) -> Weights:
    """Return the weights of a post-norm model whose inner states are `factor` times as large.

    Only the first norm of a stack keeps its ε: the positions of its input cannot be scaled.
    """
    stacks = (
        scale_stack(stack, np.float32(factor)) for stack in (weights.encoder, weights.decoder)
    )
    encoder, decoder = stacks
    return replace(weights, encoder=encoder, decoder=decoder)


def scale_stack(stack: Stack, factor: np.float32) -> Stack:
    """Return a stack whose states are scaled behind its first norm and before its last one."""
    one, layers = np.float32(1), list[Layer]()
    for number, layer in enumerate(stack.layers):
        first = one if number == 0 else factor
        last = one if number == len(stack.layers) - 1 else factor
        layers.append(scale_layer(layer, first, factor, last))
    return replace(stack, layers=tuple(layers))


def scale_layer(layer: Layer, first: np.float32, inside: np.float32, last: np.float32) -> Layer:
    """Return a layer for an input times `first`, states times `inside`, an output times `last`."""
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
    """Return self-attention for an input times `before` and, after its norm, times `after`."""
    query, key, value = (one / before for one in (attention.query, attention.key, attention.value))
    output: Array = attention.output * before
    return Attention(query, key, value, output, scale_affine(attention.norm, after))


def scale_affine(affine: Affine, factor: np.float32) -> Affine:
    """Return a map whose outputs, or a norm whose gain and bias, are times `factor`."""
    return Affine(affine.weight * factor, affine.bias * factor)
