"""Beam search whose sources are added and removed while it runs, as a server needs it"""

from collections.abc import Collection, Mapping, Sequence
from typing import Generic, final

import torch

from transduce.paper.operations import PLAIN, Operations
from transduce.paper.search import (
    ActiveBatch,
    Result,
    State,
    StepwiseModel,
    merge_batches,
    select_sentences,
    start_batch,
    take_first_step,
    take_step,
)
from transduce.search.bounds import choose_beam_strategy
from transduce.settings import Search

MAX_WAIT_STEPS = 3  # the most steps that a source waits for others to enter with it
RUNNING_PER_WAITING = 8  # waiting sources enter once there is one for every 8 that run


@final
class RunningSearch(Generic[State]):
    """A beam search that sources join and leave between steps without changing others' results.

    A source that is added while nothing runs starts at once. If places are free, others enter in
    groups within three steps, because encoding sources one by one would slow down the running ones.
    """

    def __init__(
        self,
        model: StepwiseModel[State],
        search: Search,
        *,
        nbest: int,
        max_length: int,
        operations: Operations = PLAIN,
    ) -> None:
        """Build an empty search for sources of at most `max_length` symbols, END included."""
        longest = [range(max_length)]  # in place of a source, because only its length matters
        self.strategy = choose_beam_strategy(model, longest, search, nbest, operations=operations)
        self.model, self.search = model, search
        self.waiting: dict[int, Sequence[int]] = {}
        self.active: ActiveBatch[State] | None = None
        self.steps_waited = 0

    @property
    def running(self) -> int:
        """The number of sources that are being decoded."""
        return len(self.active.beams.sentences) if self.active else 0

    @property
    def is_idle(self) -> bool:
        """Whether no source waits or is being decoded."""
        return not self.waiting and self.active is None

    def add(self, sources: Mapping[int, Sequence[int]]) -> None:
        """Add sources to the waiting ones; their keys are the source indices in the results."""
        self.waiting.update(sources)

    @torch.inference_mode()
    def drop(self, indices: Collection[int]) -> None:
        """Remove the sources with these indices, whether they wait or run."""
        for index in indices:
            self.waiting.pop(index, None)
        if self.active is None:
            return
        beams = self.active.beams
        present = beams.sentences.tolist()
        kept = [place for place, index in enumerate(present) if index not in indices]
        if not kept:
            self.active = None
        elif len(kept) < len(present):
            rows = torch.arange(beams.last_ids.numel(), device=beams.last_ids.device)
            chosen = rows.view(len(present), -1)[kept].flatten()
            state = self.model.reorder(self.active.model_state, chosen)
            self.active = ActiveBatch(state, select_sentences(beams, kept))

    def clear(self) -> list[int]:
        """Remove all sources and return their indices."""
        running = self.active.beams.sentences.tolist() if self.active else []
        indices = [*self.waiting, *running]
        self.waiting, self.active = {}, None
        return indices

    @torch.inference_mode()
    def step(self) -> list[Result]:
        """Admit waiting sources, or append a symbol to running ones; return finished results."""
        if self.should_admit():
            return self.admit()
        if self.active is None:
            return []
        self.steps_waited += bool(self.waiting)
        self.active, results = take_step(self.model, self.active, self.strategy)
        return results

    def should_admit(self) -> bool:
        """Return whether waiting sources should join the running batch now."""
        free = self.search.batch_size - self.running
        if not self.waiting or free <= 0:
            return False
        enough = min(free, len(self.waiting)) * RUNNING_PER_WAITING >= self.running
        return enough or self.steps_waited >= MAX_WAIT_STEPS

    def admit(self) -> list[Result]:
        """Decode the first symbol of the oldest waiting sources; return results that are finished.

        If that fails, the sources still wait, so that `clear` returns their indices.
        """
        free = self.search.batch_size - self.running
        indices = list(self.waiting)[:free]
        sources = [self.waiting[index] for index in indices]
        fresh = start_batch(self.model, sources, range(len(sources)), self.search, self.strategy)
        named = torch.tensor(indices, device=self.model.device)
        fresh = ActiveBatch(fresh.model_state, fresh.beams._replace(sentences=named))
        new, results = take_first_step(self.model, fresh, self.strategy)
        if self.active and new:
            new = merge_batches(self.model, self.active, new)
        self.active = new or self.active
        for index in indices:
            del self.waiting[index]
        self.steps_waited = 0
        return results
