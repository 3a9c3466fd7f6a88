"""Cut a sequence of sentences into groups, each as long as its token budgets allow."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, Integer

# N: sentences or pairs · K: borders of the groups, the first and the last included


def greedy_cut(
    lengths: Sequence[Integer[np.ndarray, " N"]], budgets: Sequence[int]
) -> Int[np.ndarray, " K"]:
    """Cut N sentences into the longest consecutive groups within token budgets; return K borders.

    The borders are the index of each group's first sentence, then N. `lengths` holds one array of
    lengths for each budget, such as source and target. No single sentence may exceed a budget.
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
