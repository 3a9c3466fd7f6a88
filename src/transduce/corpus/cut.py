"""The greedy cut: a row of sentences into stretches that each keep to every budget."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, Integer

# N sentences in a row · K borders of stretches


def greedy_cut(
    lengths: Sequence[Integer[np.ndarray, " N"]], budgets: Sequence[int]
) -> Int[np.ndarray, " K"]:
    """Where stretches begin, and N at the end: each takes as many sentences as all budgets let it.

    No sentence may be over a budget by itself.
    """
    totals = [np.concatenate(([0], row.cumsum(dtype=np.int64))) for row in lengths]
    cuts = [0]
    while cuts[-1] < len(lengths[0]):
        begin = cuts[-1]
        ends = [
            total.searchsorted(total[begin] + budget, side="right") - 1
            for total, budget in zip(totals, budgets, strict=True)
        ]
        cuts.append(int(min(ends)))
        assert cuts[-1] > begin, "a sentence is over a budget by itself"
    return np.array(cuts)
