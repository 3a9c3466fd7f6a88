"""Batches of the next update, which are read while a GPU computes this one"""

from collections.abc import Callable, Sequence
from typing import final

import torch

from transduce.packed import Batch
from transduce.paper.training import PendingUpdate, ReadBatches, Update


@final
class BatchesAhead:
    """Returns a step's micro-batches; `read` fetches those of the next step while a GPU works."""

    def __init__(self, batches: ReadBatches, last_step: int) -> None:
        self.batches, self.last_step = batches, last_step
        self.ahead: dict[int, Sequence[Batch]] = {}

    def __call__(self, step: int) -> Sequence[Batch]:
        """Return the micro-batches of a step."""
        return self.ahead.pop(step, None) or self.batches(step)

    def read(self, pending: PendingUpdate) -> Update:
        """Fetch the next step's micro-batches, then wait for the results of a pending update."""
        step = pending.step + 1
        if step <= self.last_step:
            self.ahead = {step: self.batches(step)}
        return pending.read()


def read_ahead(
    batches: ReadBatches, last_step: int, device: torch.device
) -> tuple[ReadBatches, Callable[[PendingUpdate], Update]]:
    """Return two functions: one gets a step's batches, the other reads an update's results.

    On a GPU the second one fetches the next step's batches before it waits for the results.
    """
    if device.type != "cuda":
        return batches, PendingUpdate.read
    ahead = BatchesAhead(batches, last_step)
    return ahead, ahead.read
