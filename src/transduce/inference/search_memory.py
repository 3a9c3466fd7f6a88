"""Limits the batch of a search to an estimate of what fits in free memory.

A process over the limit of a control group is killed without an error, so that it cannot retry.
Where the system raises an error, `search/halving.py` halves the batch.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from transduce.errors import NotEnoughMemoryError
from transduce.machine.free_memory import free_memory_bytes
from transduce.paper.model import Transformer
from transduce.settings import Architecture, Search

FLOAT = 4  # bytes of a float32
SHARE = 0.8  # of free memory to be used; the estimate leaves some things out
COPIES = 4  # of the log P of all symbols of a hypothesis: logits, sums, keys of the top-k


def limit_batch_size(
    models: Sequence[Transformer], sources: Sequence[Sequence[int]], search: Search, width: int
) -> Search:
    """Lower the batch size of `search` to the number of sentences that fit in free memory, or 1.

    `width` is the number of hypotheses of a sentence. Raise NotEnoughMemoryError if all free memory
    is too little for one sentence. A GPU is not asked: it raises errors.
    """
    if not sources or models[0].output.weight.device.type != "cpu":
        return search
    longest = sorted(map(len, sources), reverse=True)[: search.batch_size]
    needs = np.cumsum([sum(estimate_bytes(m, n, search, width) for m in models) for n in longest])
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


def estimate_bytes(model: Transformer, length: int, search: Search, width: int) -> int:
    """Estimate the bytes that a search with `width` hypotheses of `length` pieces may take."""
    steps, symbols = length + search.extra_length, len(model.output.weight)
    own = width * steps * (2 * count_cached(model.sizes) * FLOAT + 2 * 8)
    # 2 ·: for a copy of each number; 8: bytes of a token
    return own + length * count_cached(model.sizes) * FLOAT + width * symbols * FLOAT * COPIES


def count_cached(sizes: Architecture) -> int:
    """Count the numbers in the cached keys and values of one token, over all layers."""
    return sizes.layers * sizes.heads * (sizes.d_k + sizes.d_v)
