"""Beam search on Python lists, one sentence at a time, to the last allowed symbol."""

import math
from collections.abc import Callable, Sequence

from tests.reference.exhaustive_search import END, Model

Found = tuple[float, float, tuple[int, ...]]  # score, log P, ids


def plain_beam_search(
    model: Model,
    source: Sequence[int],
    *,
    beam: int,
    longest: int,
    divisor: Callable[[int], float],
) -> list[Found]:
    """All that ever finished, best first."""
    live: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    finished: list[Found] = []
    for length in range(1, longest + 1):
        grown = [
            (total + log_prob, (*ids, symbol))
            for total, ids in live
            for symbol, log_prob in enumerate(model(source, ids))
            if symbol == END or length < longest
        ]
        grown = sorted(grown, key=lambda g: -g[0])[: 1 if beam == 1 else 2 * beam]
        grown = [(total, ids) for total, ids in grown if total > -math.inf]
        finished += [
            (total / divisor(length), total, ids[:-1]) for total, ids in grown if ids[-1] == END
        ]
        live = [(total, ids) for total, ids in grown if ids[-1] != END][:beam]
    return sorted(finished, key=lambda f: -f[0])
