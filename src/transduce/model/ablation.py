"""Runs a model with one attention head switched off: what it adds to its layer is 0."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.attention.kernel import BatchAttention
from transduce.model.attention.mask import AttentionMask
from transduce.model.transformer import EncoderOutput, Transformer
from transduce.packed import Packed

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


@final
@dataclass
class SilencedAttention:
    """Attention in which one head of one layer outputs 0; it counts its calls, one per layer."""

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


@contextmanager
def silence_head(
    model: Transformer, layer: int, head: int, *, causal: bool | None
) -> Iterator[None]:
    """Make a head of a model's layer (both numbered from 1) output 0 within a with block.

    `causal` says whether that head's attention has a causal mask; None: either.
    """
    fast, before = model.select_kernel(), model.kernel

    def build(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> BatchAttention:
        attention = fast(queries, keys, mask, device)
        is_chosen = causal is None or mask.causal == causal
        return SilencedAttention(attention, layer, head) if is_chosen else attention

    model.kernel = build
    try:
        yield
    finally:
        model.kernel = before


def decode_without_head(
    model: Transformer,
    source: Packed,
    inputs: Packed,
    memory: EncoderOutput,
    head: tuple[str, int, int],
) -> Float[Tensor, "T d_model"]:
    """Return the decoder's states without one head, such as ("cross", 1, 2): kind, layer, number.

    `memory` is the encoder's output with all heads. If the head is the encoder's, the output is
    computed again without it.
    """
    kind, layer, number = head
    if kind == "encoder":
        with silence_head(model, layer, number, causal=None):
            memory = model.encode(source)
        return model.decode(inputs, memory)
    with silence_head(model, layer, number, causal=kind == "decoder"):
        return model.decode(inputs, memory)
