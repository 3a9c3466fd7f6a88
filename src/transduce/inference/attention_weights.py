"""Records the attention weights of a model on a batch: of every layer, or to the source only

Recording is a value of one call: `Operations` whose attention also appends its weights to a list.
The model is never changed, so several threads may record at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.paper.operations import (
    AttentionMask,
    BatchAttention,
    Operations,
    attention_weights,
)

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k

Layers = list[list[Tensor]]  # [layer][sentence]: weights [heads, queries, keys]


@final
@dataclass(frozen=True)
class AttentionRecord:
    """Attention weights of a batch by layer and sentence: tensors [heads, queries, keys].

    A model with another layer in place of self-attention has weights of `cross` only.
    """

    encoder: Layers  # self-attention
    decoder: Layers  # self-attention
    cross: Layers  # decoder to source
    states: Float[Tensor, "T d_model"]  # the decoder's output, computed with these weights


@torch.no_grad()
def capture_attention(model: Transformer, source: Packed, inputs: Packed) -> AttentionRecord:
    """Run a model on packed sources and target inputs; return its attention weights    (3.2)"""
    encoder, decoder, cross = Layers(), Layers(), Layers()

    def build_for_encoder(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask
    ) -> BatchAttention:
        return RecordingAttention(queries, keys, mask, encoder)

    def build_for_decoder(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask
    ) -> BatchAttention:
        return RecordingAttention(queries, keys, mask, decoder if mask.causal else cross)

    operations = model.eval().operations
    memory = model.encode(source, replace(operations, attention=build_for_encoder))
    states = model.decode(inputs, memory, replace(operations, attention=build_for_decoder))
    return AttentionRecord(encoder, decoder, cross, states)


@torch.no_grad()
def capture_cross_attention(model: Transformer, source: Packed, inputs: Packed) -> Layers:
    """Return cross-attention weights by layer and sentence: tensors [heads, targets, sources].

    All other attention is computed by the model's own operations.
    """
    operations = model.eval().operations
    cross = Layers()
    model.decode(inputs, model.encode(source), record_cross_attention(operations, cross))
    return cross


def record_cross_attention(operations: Operations, cross: Layers) -> Operations:
    """Return operations that append the weights of each layer's cross-attention to `cross`."""

    def build(queries: Sequence[int], keys: Sequence[int], mask: AttentionMask) -> BatchAttention:
        if mask.causal:
            return operations.attention(queries, keys, mask)
        return RecordingAttention(queries, keys, mask, cross)

    return replace(operations, attention=build)


@final
@dataclass(frozen=True)
class RecordingAttention:
    """Attention, sentence by sentence, that appends the weights of each call to `layers`."""

    queries: Sequence[int]  # the number of query tokens of each sentence
    keys: Sequence[int]  # the number of key tokens of each sentence
    mask: AttentionMask
    layers: Layers  # the weights of the calls so far

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,  # noqa: ARG002 - weights are recorded of models that do not train
    ) -> Float[Tensor, "T H d_v"]:
        """Compute attention and append this layer's weights, one tensor per sentence."""
        parts = (q.split(list(self.queries)), k.split(list(self.keys)), v.split(list(self.keys)))
        weights, outputs = [], []
        for sentence in zip(*parts, strict=True):
            one_q, one_k, one_v = (side.transpose(0, 1) for side in sentence)
            positions = (torch.arange(x.shape[1], device=q.device) for x in (one_q, one_k))
            weights.append(attention_weights(one_q, one_k, self.mask.compute_allowed(*positions)))
            outputs.append((weights[-1] @ one_v).transpose(0, 1))
        self.layers.append(weights)
        return torch.cat(outputs)
