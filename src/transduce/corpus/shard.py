"""Split an update into micro-batches that fit into memory, by sentence lengths alone."""

import numpy as np
from jaxtyping import Int, Integer

from transduce.corpus.cut import greedy_cut
from transduce.errors import InputError

# N: pairs of the corpus · P: pairs of an update


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
