"""Pairs as the model takes them."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.side import Side
from transduce.corpus.store import Store
from transduce.packed import Packed

# P pairs

FILLER = 64  # tokens of one, at most


@final
@dataclass(frozen=True)
class Batch:
    """Source and target sentences, in the same order, each closed by END."""

    source: Packed
    target: Packed

    @staticmethod
    def of(store: Store, indices: Int[np.ndarray, " P"]) -> "Batch":
        """The pairs of these numbers."""
        return Batch(packed(store.source, indices), packed(store.target, indices))

    def filled(self, multiple: int) -> "Batch":
        """The same pairs and fillers behind them: so many tokens a side, or a multiple.

        The fillers are pairs of short sentences, which see themselves alone; whoever takes the
        loss leaves their rows out.
        """
        sides = (self.source, self.target)
        lacking = [-len(side.ids) % multiple for side in sides]
        if not any(lacking):
            return self
        while min(lacking) < fillers(lacking):  # each has a token on either side
            lacking[lacking.index(min(lacking))] += multiple
        pairs = fillers(lacking)
        return Batch(
            *(
                side.append_padding_sentences(parts(n, pairs))
                for side, n in zip(sides, lacking, strict=True)
            )
        )

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(self.source.to(device), self.target.to(device))


def fillers(lacking: list[int]) -> int:
    """How many pairs of fillers hold so many tokens a side."""
    return -(-max(lacking) // FILLER)


def parts(number: int, count: int) -> list[int]:
    """So many parts of near-equal size."""
    return [number // count + (place < number % count) for place in range(count)]


def packed(side: Side, indices: Int[np.ndarray, " P"]) -> Packed:
    """The sentences of one side, end to end."""
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
