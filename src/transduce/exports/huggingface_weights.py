"""A model's weights under the names of Hugging Face's MarianMTModel, with a row for padding."""

import math
from collections.abc import Iterator

import numpy as np

from transduce.exports.features import list_sines_first, reorder_features
from transduce.exports.norms import scale_states
from transduce.exports.weights import Affine, Array, Attention, Layer, Stack, Weights
from transduce.settings import Architecture

EPSILON = 1e-5  # what Marian's norms add to the variance
Named = Iterator[tuple[str, Array]]


def name_marian_weights(weights: Weights) -> dict[str, Array]:
    """Return a model's arrays by MarianMTModel's names; a tied matrix has only one name."""
    weights = scale_states(weights, math.sqrt(EPSILON / Architecture().norm_epsilon))
    weights = reorder_features(weights, list_sines_first(weights.projection.shape[1]))
    found = {"final_logits_bias": forbid_padding(len(weights.projection))}
    encoder, decoder = weights.encoder.embedding, weights.decoder.embedding
    if encoder is decoder:
        found["model.shared.weight"] = add_row(encoder)
    else:
        found["model.encoder.embed_tokens.weight"] = add_row(encoder)
        found["model.decoder.embed_tokens.weight"] = add_row(decoder)
    if weights.projection is not decoder:
        found["lm_head.weight"] = add_row(weights.projection)
    for scope, stack in (("model.encoder", weights.encoder), ("model.decoder", weights.decoder)):
        found |= dict(name_stack(scope, stack))
    return {name: np.ascontiguousarray(value, dtype=np.float32) for name, value in found.items()}


def add_row(matrix: Array) -> Array:
    """Return a matrix with a row of zeros added at its end, for the padding symbol."""
    return np.pad(matrix, ((0, 1), (0, 0)))


def forbid_padding(symbols: int) -> Array:
    """Return a bias for the logits: 0 for each of `symbols` symbols, then -inf for padding."""
    bias = np.zeros((1, symbols + 1), dtype=np.float32)
    bias[0, -1] = -np.inf
    return bias


def name_stack(scope: str, stack: Stack) -> Named:
    """Yield name and array of each weight in the layers of the encoder or decoder."""
    for number, layer in enumerate(stack.layers):
        yield from name_layer(f"{scope}.layers.{number}", layer)


def name_layer(scope: str, layer: Layer) -> Named:
    """Yield name and array of each weight of one layer; all names begin with `scope`."""
    yield from name_attention(f"{scope}.self_attn", layer.self_attention)
    if layer.cross_attention is not None:
        yield from name_attention(f"{scope}.encoder_attn", layer.cross_attention)
    yield from name_affine(f"{scope}.fc1", layer.inner)
    yield from name_affine(f"{scope}.fc2", layer.outer)
    yield from name_affine(f"{scope}.final_layer_norm", layer.feed_forward_norm)


def name_attention(scope: str, attention: Attention) -> Named:
    """Yield name and array of each weight of one attention sub-layer, with zeros as biases."""
    matrices = {
        "q_proj": attention.query,
        "k_proj": attention.key,
        "v_proj": attention.value,
        "out_proj": attention.output,
    }
    for name, matrix in matrices.items():
        yield from name_affine(f"{scope}.{name}", Affine(matrix, np.zeros(len(matrix), np.float32)))
    yield from name_affine(f"{scope}_layer_norm", attention.norm)


def name_affine(scope: str, affine: Affine) -> Named:
    """Yield name and array of a matrix and its bias, or of a norm's gain and bias."""
    yield f"{scope}.weight", affine.weight
    yield f"{scope}.bias", affine.bias
