"""Collects a model's weights by role, as numpy arrays in the layout that other programs expect."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from jaxtyping import Float
from torch import Tensor, nn

from transduce.paper.model import (
    DecoderLayer,
    EncoderLayer,
    LearnedPositions,
    SinusoidalPositions,
    Transformer,
    compute_sinusoids,
)
from transduce.settings import Architecture

Array = Float[np.ndarray, "..."]
POSITIONS = 2048  # rows of an exported table of sinusoids


@final
@dataclass(frozen=True)
class Affine:
    """A matrix of shape [outputs inputs] and a bias, or the gain and bias of a norm."""

    weight: Array
    bias: Array


@final
@dataclass(frozen=True)
class Projection:
    """A matrix of shape [outputs inputs] and a bias, or None if the model has no bias there."""

    weight: Array
    bias: Array | None = None


@final
@dataclass(frozen=True)
class Attention:
    """The four projections of multi-head attention, and the sub-layer's norm.

    Each head is `Weights.head_width` wide in queries, keys and values.
    """

    query: Projection
    key: Projection
    value: Projection
    output: Projection
    norm: Affine


@final
@dataclass(frozen=True)
class Layer:
    """One encoder or decoder layer; an encoder layer has no cross-attention."""

    self_attention: Attention
    cross_attention: Attention | None
    inner: Affine
    outer: Affine
    feed_forward_norm: Affine


@final
@dataclass(frozen=True)
class Stack:
    """The encoder's or decoder's weights: embedding, position table, layers, final norm or None."""

    embedding: Array
    positions: Array
    layers: tuple[Layer, ...]
    final_norm: Affine | None


@final
@dataclass(frozen=True)
class Weights:
    """All weights of a model; tied matrices are one object."""

    encoder: Stack
    decoder: Stack
    projection: Projection  # to the logits
    heads: int
    head_width: int
    activation: str  # "relu" or "swish"
    norm_epsilon: float


def collect_weights(model: Transformer, head_width: int | None = None) -> Weights:
    """Return a model's weights with all heads padded to one width, by default max(d_k, d_v).

    Padding changes no output: zeros in queries and keys add nothing to their products. The queries
    are scaled so that dividing by √head_width equals dividing by √d_k.
    """
    width = head_width or max(model.sizes.d_k, model.sizes.d_v)
    collector = Collector(model.sizes, width)
    matrices = {id(one): to_numpy(one.weight) for one in (model.source, model.target, model.output)}
    sinusoids = to_numpy(compute_sinusoids(POSITIONS, model.sizes.d_model, model.sizes.positions))

    def collect(
        embedding: nn.Module,
        positions: SinusoidalPositions | LearnedPositions,
        layers: Any,  # noqa: ANN401
        norm: nn.Module,
    ) -> Stack:
        return Stack(
            matrices[id(embedding)],
            to_numpy(positions.weight) if isinstance(positions, LearnedPositions) else sinusoids,
            tuple(collector.collect_layer(layer) for layer in layers),
            collect_affine(norm) if isinstance(norm, nn.LayerNorm) else None,
        )

    encoder = collect(model.source, model.source_positions, model.encoder, model.encoder_final_norm)
    decoder = collect(model.target, model.target_positions, model.decoder, model.decoder_final_norm)
    bias = None if model.bias_of_logits is None else to_numpy(model.bias_of_logits)
    return Weights(
        encoder,
        decoder,
        Projection(matrices[id(model.output)], bias),
        model.sizes.heads,
        width,
        model.sizes.activation,
        model.sizes.norm_epsilon,
    )


@final
@dataclass(frozen=True)
class Collector:
    """A collector of layers' weights that pads every head to `width` features."""

    sizes: Architecture
    width: int

    def collect_layer(self, layer: EncoderLayer | DecoderLayer) -> Layer:
        """Return the weights of one encoder or decoder layer."""
        own: Any = layer.self_attention
        parts = split_projection(own.query_key_value, own.parts)
        feed_forward, cross = layer.feed_forward, None
        if isinstance(layer, DecoderLayer):
            other = layer.cross_attention
            query = split_projection(other.query, [len(other.query.weight)])
            keys_values = split_projection(other.key_value, other.parts)
            cross = self.collect_attention([*query, *keys_values], other, layer.add_cross)
        return Layer(
            self.collect_attention(parts, own, layer.add_self),
            cross,
            collect_affine(feed_forward.inner),
            collect_affine(feed_forward.outer),
            collect_affine(layer.add_feed_forward.norm),
        )

    def collect_attention(
        self,
        parts: list[Projection],
        attention: Any,  # noqa: ANN401
        add_and_norm: Any,  # noqa: ANN401
    ) -> Attention:
        """Return the head-padded weights of an attention module and of its sub-layer's layer norm.

        `parts` are W^Q, W^K and W^V, of which W^Q is scaled to make up for the padded head width.
        """
        (output,) = split_projection(attention.output, [len(attention.output.weight)])
        rows = self.pad_rows(output.weight.T)
        query, key, value = (
            Projection(
                self.pad_rows(one.weight) * scale,
                None if one.bias is None else self.pad_rows(one.bias[:, None])[:, 0] * scale,
            )
            for one, scale in zip(parts, self.scales, strict=True)
        )
        output = replace(output, weight=np.ascontiguousarray(rows.T))
        return Attention(query, key, value, output, collect_affine(add_and_norm.norm))

    @property
    def scales(self) -> Array:
        """The factors of queries, keys and values; the first makes up for the padded head width."""
        return np.array([math.sqrt(self.width / self.sizes.d_k), 1, 1], np.float32)

    def pad_rows(self, matrix: Array) -> Array:
        """Return a projection matrix with rows of zeros added after the rows of each head."""
        by_head = matrix.reshape(self.sizes.heads, -1, matrix.shape[1])
        missing = self.width - by_head.shape[1]
        padded = np.pad(by_head, ((0, 0), (0, missing), (0, 0)))
        return padded.reshape(self.sizes.heads * self.width, -1)


def split_projection(linear: Any, parts: Sequence[int]) -> list[Projection]:  # noqa: ANN401
    """Split a linear map into projections; `parts` has the number of outputs of each."""
    biases = [None] * len(parts) if linear.bias is None else linear.bias.split(parts)
    return [
        Projection(to_numpy(weight), None if bias is None else to_numpy(bias))
        for weight, bias in zip(linear.weight.split(parts), biases, strict=True)
    ]


def collect_affine(module: Any) -> Affine:  # noqa: ANN401 - torch gives layers as modules
    """Return the matrix and bias of a linear map, or the gain and bias of a layer norm."""
    return Affine(to_numpy(module.weight), to_numpy(module.bias))


def to_numpy(weight: Tensor) -> Array:
    """Return a weight as a contiguous numpy array in float32."""
    return np.ascontiguousarray(weight.detach().float().cpu().numpy())
