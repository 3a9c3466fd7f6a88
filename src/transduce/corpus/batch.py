"""Batches of sentence pairs as the model takes them: both sides packed end to end."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.side import Side
from transduce.corpus.store import Store
from transduce.packed import Packed

# P pairs

PADDING_SENTENCE_TOKENS = 64  # at most


@final
@dataclass(frozen=True)
class Batch:
    """Source and target sentences in the same order, packed, each closed by END."""

    source: Packed
    target: Packed

    @staticmethod
    def from_store(store: Store, indices: Int[np.ndarray, " P"]) -> "Batch":
        """Read the pairs with these indices from a store as one batch."""
        return Batch(gather_packed(store.source, indices), gather_packed(store.target, indices))

    def pad_to_multiple(self, multiple: int) -> "Batch":
        """Append padding sentences until each side's token count is a multiple of a number.

        Padding sentences are short pairs that attend to themselves only; the loss leaves them out.
        """
        sides = (self.source, self.target)
        lacking = [-len(side.ids) % multiple for side in sides]
        if not any(lacking):
            return self
        while min(lacking) < count_padding_sentences(lacking):  # each has a token on either side
            lacking[lacking.index(min(lacking))] += multiple
        pairs = count_padding_sentences(lacking)
        return Batch(
            *(
                side.append_padding_sentences(split_evenly(n, pairs))
                for side, n in zip(sides, lacking, strict=True)
            )
        )

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch on another device."""
        return Batch(self.source.to(device), self.target.to(device))


def count_padding_sentences(lacking: list[int]) -> int:
    """Return how many padding sentences a side needs, given the lacking tokens of both sides."""
    return -(-max(lacking) // PADDING_SENTENCE_TOKENS)


def split_evenly(number: int, count: int) -> list[int]:
    """Split a number into `count` integers that differ by at most 1."""
    return [number // count + (index < number % count) for index in range(count)]


def gather_packed(side: Side, indices: Int[np.ndarray, " P"]) -> Packed:
    """Read sentences of one side of a store as one packed tensor."""
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
