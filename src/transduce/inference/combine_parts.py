"""Chooses, for a line that was split, which hypotheses of its parts make up each of its outputs."""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

from transduce.paper.search import Hypothesis

Combination = Sequence[Hypothesis]  # a hypothesis of each part of a line, in order


class Sum(NamedTuple):
    """The score of a combination of hypotheses for a line's first parts; the best sorts first."""

    negative: float  # the negative sum of scores
    before: int  # the rank, from 0, of the combination without the last part
    rank: int  # the rank, from 0, of the last part's hypothesis


def combine_best(found: Sequence[Sequence[Hypothesis]], n: int) -> list[Combination]:
    """Return the `n` combinations of a line's parts with the highest sums of scores, best first.

    `found` has each part's hypotheses, best first. Parts are added one by one, and only the `n`
    best sums so far are extended: no other sum can lead to a better total. Equal sums are ordered
    by the ranks of the parts' hypotheses.
    """
    totals, steps = [0.0], list[list[Sum]]()
    for hypotheses in found:
        best = merge_best(totals, [one.score for one in hypotheses], n)
        totals = [-one.negative for one in best]
        steps.append(best)
    return [trace_back(found, steps, rank) for rank in range(len(totals))]


def merge_best(totals: Sequence[float], scores: Sequence[float], n: int) -> list[Sum]:
    """Return the `n` highest sums of a total and a score, both given in descending order."""
    heap, best = [Sum(-(totals[0] + scores[0]), 0, 0)], list[Sum]()
    while heap and len(best) < n:
        top = heapq.heappop(heap)
        best.append(top)
        _, before, rank = top
        if rank + 1 < len(scores):
            heapq.heappush(heap, Sum(-(totals[before] + scores[rank + 1]), before, rank + 1))
        if rank == 0 and before + 1 < len(totals):  # so that no sum is reached twice
            heapq.heappush(heap, Sum(-(totals[before + 1] + scores[0]), before + 1, 0))
    return best


def trace_back(
    found: Sequence[Sequence[Hypothesis]], steps: Sequence[Sequence[Sum]], rank: int
) -> Combination:
    """Return the combination with the `rank`-th best total, found by following sums backwards."""
    chosen = []
    for hypotheses, best in zip(reversed(found), reversed(steps), strict=True):
        chosen.append(hypotheses[best[rank].rank])
        rank = best[rank].before
    return chosen[::-1]


def combine_samples(found: Sequence[Sequence[Hypothesis]], n: int) -> list[Combination]:
    """Return `n` combinations of a line's parts: the i-th sample of every part, for each i."""
    return [[part[index] for part in found] for index in range(min([n, *map(len, found)]))]
