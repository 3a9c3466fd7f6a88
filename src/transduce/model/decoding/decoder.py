"""A Transformer as the search wants it: four functions and a state that only it understands."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.model.decoding import kv_cache as cache
from transduce.model.decoding.kv_cache import KVCache
from transduce.model.transformer import Transformer
from transduce.packed import Packed


@final
@dataclass(frozen=True)
class TransformerDecoder:
    """One model in evaluation."""

    model: Transformer

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return self.model.output.weight.device

    def start(self, sources: Sequence[Sequence[int]]) -> KVCache:
        """Encode the sources, each with its END."""
        return cache.start(
            self.model, self.model.encode(Packed.from_sentences(sources).to(self.device))
        )

    def step(self, state: KVCache, ids: Int[Tensor, " R"]) -> tuple[Float[Tensor, "R V"], KVCache]:
        """Log-probabilities of what may follow one more symbol."""
        states, state = cache.step(self.model, ids, state)
        logits = self.model.logits(states)
        kind = torch.promote_types(logits.dtype, torch.float32)  # bfloat16 has too few digits
        logits = logits.to(kind)
        return torch.log_softmax(logits, dim=-1, out=logits), state

    def reorder(self, state: KVCache, rows: Int[Tensor, " R2"]) -> KVCache:
        """These rows, in this order."""
        return state.select(rows)

    def concatenate(self, first: KVCache, second: KVCache) -> KVCache:
        """The rows of both."""
        return cache.join(first, second)
