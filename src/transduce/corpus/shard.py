"""Cuts sentences into groups, such as an update into micro-batches, by their lengths alone."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int, Integer

from transduce.errors import InputError

# N: sentences, or pairs of the corpus · P: pairs of an update
# K: borders of the groups, the first and the last included


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


def split_update(
    indices: Int[np.ndarray, " P"],
    source_lengths: Integer[np.ndarray, " N"],
    target_lengths: Integer[np.ndarray, " N"],
    limit: int,
) -> list[Int[np.ndarray, " _"]]:
    """Split an update's P pairs into micro-batches of at most `limit` tokens, both sides together.

    `indices` selects the update's pairs from the corpus, whose N pairs have the given lengths. The
    update's pairs are sorted by source length, then by target length, because attention is
    computed in groups of similar length.
    """
    source, target = source_lengths[indices], target_lengths[indices]
    order = np.lexsort((indices, target, source))
    tokens = (source + target)[order]
    if len(tokens) and tokens.max() > limit:
        raise InputError(
            f"pair {indices[order[tokens.argmax()]] + 1} has {tokens.max()} pieces, "
            f"more than may be in memory at once (training.micro_batch_tokens = {limit})",
            "raise training.micro_batch_tokens, or lower data.max_length",
        )
    cuts = greedy_cut([tokens], [limit])
    return np.split(indices[order], cuts[1:-1])
