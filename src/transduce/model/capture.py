"""Capturing of a model's attention weights on a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.reference import ReferenceAttention
from transduce.model.transformer import Transformer
from transduce.packed import Packed

# H heads · t query positions and s key positions of one sentence


@final
@dataclass(frozen=True)
class AttentionRecord:
    """Attention weights, [heads, queries, keys], of every layer and sentence of a batch."""

    encoder: list[list[Tensor]] = field(default_factory=list)
    decoder: list[list[Tensor]] = field(default_factory=list)
    cross: list[list[Tensor]] = field(default_factory=list)


@torch.no_grad()
def capture_attention(model: Transformer, source: Packed, inputs: Packed) -> AttentionRecord:
    """Run a batch through the reference kernel and return all attention weights    (section 3.2)"""
    record = AttentionRecord()

    def build_for_encoder(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> RecordingAttention:
        return RecordingAttention(ReferenceAttention(queries, keys, mask, device), record.encoder)

    def build_for_decoder(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> RecordingAttention:
        attention = ReferenceAttention(queries, keys, mask, device)
        return RecordingAttention(attention, record.decoder if mask.causal else record.cross)

    kernel = model.eval().kernel
    try:
        model.kernel = build_for_encoder
        memory = model.encode(source)
        model.kernel = build_for_decoder
        model.decode(inputs, memory)
    finally:
        model.kernel = kernel
    return record


@final
@dataclass(frozen=True)
class RecordingAttention:
    """The reference kernel, which also appends every layer's attention weights to a list."""

    attention: ReferenceAttention
    layers: list[list[Tensor]]

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
