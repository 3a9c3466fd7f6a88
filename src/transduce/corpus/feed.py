"""The micro-batches of each update: the pairs that a `Plan` selects, read from a store."""

from dataclasses import dataclass
from typing import final

from transduce.corpus.batch import Batch
from transduce.corpus.plan import Plan
from transduce.corpus.shard import split_update
from transduce.corpus.store import Store


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
        return [Batch.from_store(self.store, part) for part in parts]
