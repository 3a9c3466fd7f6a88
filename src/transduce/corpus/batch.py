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
        """The same pairs and a pair of fillers behind them: so many tokens a side, or a multiple.

        The fillers see themselves alone; whoever takes the loss leaves their rows out.
        """
        sides = (self.source, self.target)
        if all(len(side.ids) % multiple == 0 for side in sides):
            return self
        return Batch(*(side.followed_by(multiple - len(side.ids) % multiple) for side in sides))

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(self.source.to(device), self.target.to(device))


def packed(side: Side, indices: Int[np.ndarray, " P"]) -> Packed:
    """The sentences of one side, end to end."""
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
