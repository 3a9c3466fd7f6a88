"""Exhaustive search: every output up to a length, with its log-probability."""

import itertools
from collections.abc import Callable, Sequence

END = 0

Model = Callable[[Sequence[int], tuple[int, ...]], Sequence[float]]  # source, prefix: log P of next


def enumerate_outputs(
    model: Model, source: Sequence[int], symbols: int, max_length: int
) -> list[tuple[float, int, tuple[int, ...]]]:
    """Return (log P, number of symbols with END, ids) of all outputs up to `max_length` symbols."""
    found = []
    for length in range(max_length):
        for ids in itertools.product(range(1, symbols), repeat=length):
            positions = range(length + 1)
            log_prob = sum(model(source, ids[:i])[(*ids, END)[i]] for i in positions)
            found.append((log_prob, length + 1, ids))
    return found
