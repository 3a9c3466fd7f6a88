"""Search by trying everything."""

import itertools
from collections.abc import Callable, Sequence

END = 0

Model = Callable[[Sequence[int], tuple[int, ...]], Sequence[float]]  # source, prefix: log P of next


def every_sentence(
    model: Model, source: Sequence[int], symbols: int, longest: int
) -> list[tuple[float, int, tuple[int, ...]]]:
    """(log P, number of symbols with END, ids) of all outputs with at most `longest` symbols."""
    found = []
    for length in range(longest):
        for ids in itertools.product(range(1, symbols), repeat=length):
            places = range(length + 1)
            log_prob = sum(model(source, ids[:i])[(*ids, END)[i]] for i in places)
            found.append((log_prob, length + 1, ids))
    return found
