"""Limits the batch of a search to an estimate of what fits in free memory.

A process over the limit of a control group is killed without an error, so that it cannot retry.
Where the system raises an error, `search/halving.py` halves the batch.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transduce.errors import NotEnoughMemoryError
from transduce.machine.limits import free_memory_bytes
from transduce.paper.model import Transformer
from transduce.search.beam_cost import estimate_bytes, require_affordable_beam
from transduce.settings import Search

SHARE = 0.8  # of free memory to be used; the estimate leaves some things out


def limit_batch_size(
    models: Sequence[Transformer], sources: Sequence[Sequence[int]], search: Search, width: int
) -> Search:
    """Lower the batch size of `search` to the number of sentences that fit in free memory, or 1.

    `width` is the number of hypotheses of a sentence. Raise NotEnoughMemoryError if all free memory
    is too little for one sentence, and InputError if its beam is too wide. A GPU is not asked: it
    raises errors.
    """
    if not sources or models[0].output.weight.device.type != "cpu":
        return search
    longest = sorted(map(len, sources), reverse=True)[: search.batch_size]
    known = [(model.sizes, len(model.output.weight)) for model in models]
    needs = np.cumsum(
        [sum(estimate_bytes(*one, n, search, width) for one in known) for n in longest]
    )
    require_affordable_beam(int(needs[0]), longest[0], width)
    free = free_memory_bytes()
    if needs[0] > free:
        raise NotEnoughMemoryError(
            f"a sentence of {longest[0]:,} pieces and {width:,} hypotheses may need "
            f"{needs[0] / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} are free",
            "try a smaller beam, fewer samples, or shorter lines",
        )
    fitting = int((needs <= SHARE * free).sum())
    if fitting == len(longest):
        return search
    return replace(search, batch_size=max(1, fitting))
