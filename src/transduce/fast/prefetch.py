"""Batches of the next update, which are read while a GPU computes this one"""

from collections.abc import Callable, Sequence

import torch

from transduce.packed import Batch
from transduce.paper.operations import keep_batch
from transduce.paper.training import PendingUpdate, ReadBatches, Update


def build_prefetch_functions(
    batches: ReadBatches,
    last_step: int,
    device: torch.device,
    prepare: Callable[[Batch], Batch] = keep_batch,
) -> tuple[ReadBatches, Callable[[PendingUpdate], Update]]:
    """Return two functions: one gets a step's batches, the other reads an update's results.

    On a GPU the second function fetches and prepares the next step's batches before it waits for
    the results.
    """
    if device.type != "cuda":
        return batches, PendingUpdate.read
    ahead = dict[int, Sequence[Batch]]()

    def get_batches(step: int) -> Sequence[Batch]:
        return ahead.pop(step, None) or batches(step)

    def read(pending: PendingUpdate) -> Update:
        ahead.clear()
        step = pending.step + 1
        if step <= last_step:
            ahead[step] = [prepare(batch) for batch in batches(step)]
        return pending.read()

    return get_batches, read
