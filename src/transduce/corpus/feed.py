"""The micro-batches of each update, which read the pairs that a `Plan` selects from a store."""

from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.plan import Plan
from transduce.corpus.side import Side
from transduce.corpus.store import Store
from transduce.packed import Batch, Packed, split_update

# P: the pairs of a batch


@final
@dataclass(frozen=True)
class Feed:
    """The micro-batches of every update of a run, computed on demand from the step number."""

    store: Store
    plan: Plan
    micro_batch_tokens: int  # the most tokens in a micro-batch, both sides together

    def micro_batches(self, step: int) -> list[Batch]:
        """Return the micro-batches of the update `step`, counted from 1."""
        lengths = (self.store.source_lengths, self.store.target_lengths)
        parts = split_update(self.plan.select_pairs(step), *lengths, self.micro_batch_tokens)
        return [read_batch(self.store, part) for part in parts]


def read_batch(store: Store, indices: Int[np.ndarray, " P"]) -> Batch:
    """Read the P pairs with these indices from a store as one batch."""
    return Batch(gather_packed(store.source, indices), gather_packed(store.target, indices))


def gather_packed(side: Side, indices: Int[np.ndarray, " P"]) -> Packed:
    """Read the P sentences with these indices from one side of a store, packed end to end."""
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
