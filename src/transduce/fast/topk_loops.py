"""Compiled loops that find the highest sums of a score and a log-probability"""

import numpy as np
from numpy import float32, int64
from numpy.typing import NDArray

from transduce.fast.compiled_loops import compile_loops

# S sentences · W hypotheses of each · V symbols, in B blocks and a rest · K columns to find

LOWEST = float32(-np.inf)


@compile_loops
def fill_highest_sums(
    scores: NDArray[float32],
    log_probs: NDArray[float32],
    maxima: NDArray[float32],
    block: int,
    sums: NDArray[float32],
    columns: NDArray[int64],
) -> bool:
    """Write each sentence's K highest sums and their columns; return False if one has fewer.

    The highest comes first, and the leftmost of equal ones. NaN does not count. Only blocks whose
    highest sum may be among the K are read.
    """
    width, symbols, blocks = scores.shape[1], log_probs.shape[1], maxima.shape[2]
    limits, unused = np.empty(sums.shape[1], float32), np.empty(sums.shape[1], int64)
    is_full = True
    for s in range(scores.shape[0]):
        found = 0
        for w in range(width):
            found = insert_highest(maxima[s, w], scores[s, w], 0, limits, unused, found)
        # A block with a lower maximum has none of the K highest.
        limit = limits[-1] if found == limits.shape[0] else LOWEST
        found = 0
        for w in range(width):
            row, score, best = log_probs[s * width + w], scores[s, w], maxima[s, w]
            first = w * symbols
            for b in range(blocks):
                if best[b] + score >= limit:
                    part = row[b * block : (b + 1) * block]
                    found = insert_highest(
                        part, score, first + b * block, sums[s], columns[s], found
                    )
            rest = row[blocks * block :]
            found = insert_highest(rest, score, first + blocks * block, sums[s], columns[s], found)
        is_full &= found == sums.shape[1]
    return is_full


@compile_loops
def insert_highest(
    numbers: NDArray[float32],
    score: float32,
    first: int,
    best: NDArray[float32],
    columns: NDArray[int64],
    found: int,
) -> int:
    """Insert each number plus `score` into the `found` best sums (at most K); return their count.

    `first` is the first number's column. A sum goes after equal ones. NaN is left out.
    """
    kept = best.shape[0]
    lowest = best[kept - 1] if found == kept else LOWEST
    for j in range(numbers.shape[0]):
        value = numbers[j] + score
        if value > lowest or (found < kept and not np.isnan(value)):
            at = min(found, kept - 1)
            while at > 0 and best[at - 1] < value:
                best[at], columns[at] = best[at - 1], columns[at - 1]
                at -= 1
            best[at], columns[at] = value, first + j
            found = min(found + 1, kept)
            lowest = best[kept - 1] if found == kept else LOWEST
    return found
