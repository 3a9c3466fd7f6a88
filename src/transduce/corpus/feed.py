"""The updates of a run as batches: where the plan, the store and the memory's limit meet."""

from dataclasses import dataclass
from typing import final

from transduce.corpus.batch import Batch
from transduce.corpus.plan import Plan
from transduce.corpus.shard import micro_batches
from transduce.corpus.store import Store


@final
@dataclass(frozen=True)
class Feed:
    """What a step trains on depends on its number alone; nothing is read ahead or kept."""

    store: Store
    plan: Plan
    micro_batch_tokens: int  # of both sides together, in one micro-batch

    def update(self, step: int) -> list[Batch]:
        """The micro-batches of an update, steps counted from 1."""
        lengths = (self.store.source_lengths, self.store.target_lengths)
        parts = micro_batches(self.plan.update(step), *lengths, self.micro_batch_tokens)
        return [Batch.of(self.store, part) for part in parts]
