"""Reorders a model's d_model features: sines before cosines, as Marian's positions have them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from transduce.exports.weights import Affine, Attention, Layer, Stack, Weights

Order = Int[np.ndarray, " d_model"]


def list_sines_first(d_model: int) -> Order:
    """Return the feature indices, first the even ones (sines), then the odd ones (cosines)."""
    return np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)])


def reorder_features(weights: Weights, order: Order) -> Weights:
    """Return the weights of the same model with its d_model features in another order.

    Tied matrices stay one object.
    """
    matrices = [weights.encoder.embedding, weights.decoder.embedding, weights.projection]
    moved = {id(one): one[:, order] for one in matrices}
    return replace(
        weights,
        encoder=reorder_stack(weights.encoder, moved[id(matrices[0])], order),
        decoder=reorder_stack(weights.decoder, moved[id(matrices[1])], order),
        projection=moved[id(matrices[2])],
    )


def reorder_stack(stack: Stack, embedding: np.ndarray, order: Order) -> Stack:
    """Return an encoder or decoder with reordered features; `embedding` is already reordered."""
    norm = stack.final_norm
    return Stack(
        embedding,
        stack.positions[:, order],
        tuple(reorder_layer(layer, order) for layer in stack.layers),
        None if norm is None else reorder_outputs(norm, order),
    )


def reorder_layer(layer: Layer, order: Order) -> Layer:
    """Return a layer with the features of its inputs and outputs in another order."""
    cross = layer.cross_attention
    return Layer(
        reorder_attention(layer.self_attention, order),
        None if cross is None else reorder_attention(cross, order),
        Affine(layer.inner.weight[:, order], layer.inner.bias),
        reorder_outputs(layer.outer, order),
        reorder_outputs(layer.feed_forward_norm, order),
    )


def reorder_attention(attention: Attention, order: Order) -> Attention:
    """Return an attention sub-layer with the features of its inputs and outputs reordered."""
    projections: Sequence[np.ndarray] = (attention.query, attention.key, attention.value)
    query, key, value = (one[:, order] for one in projections)
    return Attention(
        query, key, value, attention.output[order], reorder_outputs(attention.norm, order)
    )


def reorder_outputs(affine: Affine, order: Order) -> Affine:
    """Return a linear map with its outputs reordered, or a norm with gain and bias reordered."""
    return Affine(affine.weight[order], affine.bias[order])
