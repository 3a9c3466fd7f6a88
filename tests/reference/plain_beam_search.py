"""Beam search on Python lists, one sentence at a time, to the last allowed symbol."""

import math
from collections.abc import Callable, Sequence

from tests.reference.exhaustive_search import END, Model

Found = tuple[float, float, tuple[int, ...]]  # score, log P, ids
Score = Callable[[float, int], float]  # log P and the number of symbols with END


def plain_beam_search(
    model: Model,
    source: Sequence[int],
    *,
    beam: int,
    max_length: int,
    score: Score,
    enough: float = math.inf,
) -> list[Found]:
    """Return every hypothesis that finished until `enough` had, best first."""
    live: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    finished: list[Found] = []
    for length in range(1, max_length + 1):
        if len(finished) >= enough:
            break
        candidates = [
            (total + log_prob, (*ids, symbol))
            for total, ids in live
            for symbol, log_prob in enumerate(model(source, ids))
            if symbol == END or length < max_length
        ]
        candidates = sorted(candidates, key=lambda c: -c[0])[: 1 if beam == 1 else 2 * beam]
        candidates = [(total, ids) for total, ids in candidates if total > -math.inf]
        finished += [
            (score(total, length), total, ids[:-1]) for total, ids in candidates if ids[-1] == END
        ]
        live = [(total, ids) for total, ids in candidates if ids[-1] != END][:beam]
    return sorted(finished, key=lambda f: -f[0])
