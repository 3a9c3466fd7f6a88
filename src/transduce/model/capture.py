"""Captures the attention weights of a model on a batch: of every layer, or to the source only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.attention.kernel import BatchAttention
from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.reference import ReferenceAttention
from transduce.model.transformer import Transformer
from transduce.packed import Packed

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


@final
@dataclass(frozen=True)
class AttentionRecord:
    """Attention weights of a batch by layer and sentence: tensors [heads, queries, keys].

    A model with another layer in place of self-attention has weights of `cross` only.
    """

    encoder: list[list[Tensor]]  # self-attention: [layer][sentence]
    decoder: list[list[Tensor]]  # self-attention: [layer][sentence]
    cross: list[list[Tensor]]  # decoder to source: [layer][sentence]
    states: Float[Tensor, "T d_model"]  # the decoder's output, computed with these weights


@torch.no_grad()
def capture_attention(model: Transformer, source: Packed, inputs: Packed) -> AttentionRecord:
    """Run a model on packed sources and target inputs; return its attention weights    (3.2)"""
    encoder, decoder, cross = list[list[Tensor]](), list[list[Tensor]](), list[list[Tensor]]()

    def build_for_encoder(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> RecordingAttention:
        return RecordingAttention(ReferenceAttention(queries, keys, mask, device), encoder)

    def build_for_decoder(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> RecordingAttention:
        attention = ReferenceAttention(queries, keys, mask, device)
        return RecordingAttention(attention, decoder if mask.causal else cross)

    kernel = model.eval().kernel
    try:
        model.kernel = build_for_encoder
        memory = model.encode(source)
        model.kernel = build_for_decoder
        states = model.decode(inputs, memory)
    finally:
        model.kernel = kernel
    return AttentionRecord(encoder, decoder, cross, states)


@torch.no_grad()
def capture_cross_attention(
    model: Transformer, source: Packed, inputs: Packed
) -> list[list[Tensor]]:
    """Return cross-attention weights by layer and sentence: tensors [heads, targets, sources].

    All other attention is computed by the fast kernel.
    """
    cross, fast = list[list[Tensor]](), model.eval().select_kernel()

    def build(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> BatchAttention:
        if mask.causal:
            return fast(queries, keys, mask, device)
        return RecordingAttention(ReferenceAttention(queries, keys, mask, device), cross)

    memory, kernel = model.encode(source), model.kernel
    try:
        model.kernel = build
        model.decode(inputs, memory)
    finally:
        model.kernel = kernel
    return cross


@final
@dataclass(frozen=True)
class RecordingAttention:
    """Reference attention that appends the attention weights of each call to `layers`."""

    attention: ReferenceAttention
    layers: list[list[Tensor]]  # the weights of the calls so far: [layer][sentence]

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute attention and append this layer's weights, one tensor per sentence."""
        results = self.attention.attend_by_sentence(q, k, v, dropout)
        self.layers.append([weights for _, weights in results])
        return torch.cat([out for out, _ in results])
