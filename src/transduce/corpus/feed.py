"""The micro-batches of each update, which read the pairs that a `Plan` selects from a store."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np
import torch
from jaxtyping import Int

from transduce.corpus.augmentation import Augmentation, Ids
from transduce.corpus.plan import Plan
from transduce.corpus.side import Side
from transduce.corpus.store import Store
from transduce.packed import Batch, Packed, split_update

# P: the pairs of a batch

UNCHANGED: Mapping[int, tuple[Ids, Ids]] = MappingProxyType({})


@final
@dataclass(frozen=True)
class Feed:
    """The micro-batches of every update of a run, computed on demand from the step number."""

    store: Store
    plan: Plan
    micro_batch_tokens: int  # the most tokens in a micro-batch, both sides together
    augmentation: Augmentation | None = None  # the one that the plan measures

    def micro_batches(self, step: int) -> list[Batch]:
        """Return the micro-batches of the update `step`, counted from 1."""
        number, position = self.plan.locate(step)
        epoch = self.plan.epoch(number)
        pairs = epoch.select_pairs(position)
        changed = self.augmentation.change(number, pairs) if self.augmentation else UNCHANGED
        parts = split_update(pairs, *epoch.lengths, self.micro_batch_tokens)
        return [read_batch(self.store, part, changed) for part in parts]


def read_batch(
    store: Store,
    indices: Int[np.ndarray, " P"],
    changed: Mapping[int, tuple[Ids, Ids]] = UNCHANGED,
) -> Batch:
    """Return the P pairs with these indices as one batch; ids in `changed` replace the store's."""
    sides = (store.source, store.target)
    return Batch(
        *(
            gather_packed(side, indices, {pair: ids[number] for pair, ids in changed.items()})
            for number, side in enumerate(sides)
        )
    )


def gather_packed(side: Side, indices: Int[np.ndarray, " P"], changed: Mapping[int, Ids]) -> Packed:
    """Return the P sentences with these indices, packed; ids in `changed` replace the side's."""
    if changed:
        parts = [
            changed.get(pair) or side.gather(np.array([pair])).tolist() for pair in indices.tolist()
        ]
        return Packed.from_sentences(parts)
    return Packed(torch.from_numpy(side.gather(indices)), tuple(side.lengths[indices].tolist()))
