"""The greedy cut of a sequence of sentences into groups that keep to every token budget."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, Integer

# N sentences in a row · K borders of stretches


def greedy_cut(
    lengths: Sequence[Integer[np.ndarray, " N"]], budgets: Sequence[int]
) -> Int[np.ndarray, " K"]:
    """Return the index at which each group begins, and N: groups are filled to the tightest budget.

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
