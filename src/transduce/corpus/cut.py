"""The greedy cut of a sequence of sentences into groups that exceed none of the token budgets."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, Integer

# N sentences or pairs · K borders of groups


def greedy_cut(
    lengths: Sequence[Integer[np.ndarray, " N"]], budgets: Sequence[int]
) -> Int[np.ndarray, " K"]:
    """Cut N items into consecutive groups and return the first index of each group, then N.

    Each row of `lengths` has its own budget. A group is as long as it can be without exceeding any
    budget. No single item may exceed a budget.
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
