"""The Transformer as the `Decoder` that beam search and sampling need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.machine.compiled_loops import uses_compiled_loops
from transduce.model.decoding.kv_cache import KVCache, concatenate
from transduce.model.decoding.step import decode_step, start_cache
from transduce.model.transformer import Transformer
from transduce.packed import Packed

# R rows, one per hypothesis · V symbols


@final
@dataclass(frozen=True)
class TransformerDecoder:
    """A Transformer as the `Decoder` of beam search and sampling, with a KV cache as state."""

    model: Transformer

    @property
    def device(self) -> torch.device:
        """The device of the model's weights."""
        return self.model.output.weight.device

    def start(self, sources: Sequence[Sequence[int]]) -> KVCache:
        """Encode sources (ids that end with END); return a KV cache with one row per source."""
        batch = Packed.from_sentences(sources).to(self.device)
        return start_cache(self.model, self.model.encode(batch))

    def step(self, state: KVCache, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], KVCache]:
        """Append an id to each of R hypotheses; return log P of V next symbols, and the cache."""
        states, state = decode_step(self.model, ids, state)
        return compute_log_probs(self.model.logits(states)), state

    def reorder(self, state: KVCache, rows: Int[Tensor, " R2"]) -> KVCache:
        """Return the cache of the given hypotheses (indices of rows), in the given order."""
        return state.reorder(rows)

    def concatenate(self, first: KVCache, second: KVCache) -> KVCache:
        """Return one cache with the hypotheses of both caches, those of `first` first."""
        return concatenate(first, second)


def compute_log_probs(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """Return log P of V symbols, in float32 or float64; if the logits are, written over them."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if uses_compiled_loops(logits, logits.shape[0]):
        from transduce.model.decoding.loop_operators import log_softmax_by_loops

        return log_softmax_by_loops(logits)
    return torch.log_softmax(logits, dim=-1, out=logits)
