"""Runs a model with one attention head silenced, so that the head adds 0 to its layer.

The `Operations` that are passed for one call leave the head out. The model is never changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.packed import Packed
from transduce.paper.model import EncoderOutput, Transformer
from transduce.paper.operations import AttentionMask, BatchAttention, Operations

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


@final
@dataclass
class SilencedAttention:
    """Attention that outputs 0 for one head of one layer, which it finds by counting its calls."""

    attention: BatchAttention
    layer: int  # from 1
    head: int  # from 1
    calls: int = 0  # the number of layers that were computed

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute attention; where a head of this layer is silenced, its output is 0."""
        out = self.attention(q, k, v, dropout)
        self.calls += 1
        if self.calls != self.layer:
            return out
        kept = torch.ones(out.shape[1], 1, dtype=out.dtype, device=out.device)
        kept[self.head - 1] = 0
        return out * kept


def silence_head(
    operations: Operations, layer: int, head: int, *, causal: bool | None
) -> Operations:
    """Return operations in which a head of a layer (both numbered from 1) outputs 0.

    `causal` says whether that head's attention has a causal mask; None means either.
    """

    def build(queries: Sequence[int], keys: Sequence[int], mask: AttentionMask) -> BatchAttention:
        attention = operations.attention(queries, keys, mask)
        is_chosen = causal is None or mask.causal == causal
        return SilencedAttention(attention, layer, head) if is_chosen else attention

    return replace(operations, attention=build)


def decode_without_head(
    model: Transformer,
    source: Packed,
    inputs: Packed,
    memory: EncoderOutput,
    head: tuple[str, int, int],
) -> Float[Tensor, "T d_model"]:
    """Return the decoder's states without `head`, (kind, layer, number) such as ("cross", 1, 2).

    `memory` is the encoder's output with all heads. If the head is the encoder's, the output is
    computed again without it.
    """
    kind, layer, number = head
    if kind == "encoder":
        without = silence_head(model.operations, layer, number, causal=None)
        return model.decode(inputs, model.encode(source, without))
    without = silence_head(model.operations, layer, number, causal=kind == "decoder")
    return model.decode(inputs, memory, without)
