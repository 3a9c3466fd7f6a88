"""Searches whose outputs have a given length, so that everybody takes the same steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.model.decoding.decoder import TransformerDecoder
from transduce.model.decoding.kv_cache import KVCache
from transduce.search.decoder import END

# R rows · V symbols


@final
@dataclass(frozen=True)
class Forced:
    """A decoder that lets END come after `length` symbols, and then nothing else."""

    decoder: TransformerDecoder
    length: int

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return self.decoder.device

    def start(self, sources: Sequence[Sequence[int]]) -> tuple[KVCache, int]:
        """Nothing written yet."""
        return self.decoder.start(sources), 0

    def step(
        self, state: tuple[KVCache, int], ids: Int[Tensor, " R"]
    ) -> tuple[Float[Tensor, "R V"], tuple[KVCache, int]]:
        """As the model says, but for END."""
        cache, written = state
        log_probs, cache = self.decoder.step(cache, ids)
        log_probs[:, END] = -torch.inf
        if written == self.length:
            log_probs.fill_(-torch.inf)[:, END] = 0.0
        return log_probs, (cache, written + 1)

    def reorder(self, state: tuple[KVCache, int], rows: Int[Tensor, " R2"]) -> tuple[KVCache, int]:
        """These rows."""
        return self.decoder.reorder(state[0], rows), state[1]

    def concatenate(
        self, first: tuple[KVCache, int], second: tuple[KVCache, int]
    ) -> tuple[KVCache, int]:
        """Never asked: with one length for all, a batch ends as one."""
        raise NotImplementedError
