"""The highest sums of score and log P without sorting all of them; the leftmost wins a tie

`torch.topk` breaks ties in an order that depends on its algorithm, and is slow on wide rows. Here
blocks of symbols are compared by their maxima first, and only the best blocks are searched.
"""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transduce.paper import operations
from transduce.paper.operations import IsAny

# S sentences · W hypotheses of each · R = S W rows, one per hypothesis · V symbols
# C candidates of a sentence's W V columns (hypothesis-symbol pairs) · K = `count`

BLOCK = 64  # neighbouring symbols, compared by their maximum first
FEW_SUMS = 2**16  # of at most this many, the one highest sum is found faster without blocks
MOST_BY_LOOPS = 256  # the most sums to find by loops, which keep the best so far in order
FindMaxima = Callable[[Tensor, int], Tensor]


def assume_any(flags: Bool[Tensor, "*shape"]) -> bool:  # noqa: ARG001 - they are not read
    """Return True without reading the flags, for devices where reading them means waiting."""
    return True


def highest_sums(
    scores: Float[Tensor, "S W"],
    log_probs: Float[Tensor, "R V"],
    count: int,
    *,
    find_maxima: FindMaxima | None = None,
) -> tuple[Float[Tensor, "S K"], Int[Tensor, "S K"]]:
    """Return each sentence's `count` highest sums of score and log P, and their columns    (6.1)

    `find_maxima` replaces `find_block_maxima` if it is given.
    """
    if log_probs.dtype == torch.float64:  # its bits and a column do not fit into one sort key
        return operations.highest_sums(scores, log_probs, count)
    if count == 1 and log_probs.numel() <= FEW_SUMS and scores.device.type == "cpu":
        best = (scores.view(-1, 1) + log_probs).view(len(scores), -1).max(dim=1, keepdim=True)
        if not operations.is_any(best.values.isnan()):
            return best.values, best.indices
    columns = find_candidate_columns(scores, log_probs, count, find_maxima)
    log_p = log_probs.reshape(scores.shape[0], -1).gather(1, columns)
    sums = log_p + scores.gather(1, columns // log_probs.shape[1])
    chosen = rank_highest(sums, columns, count)
    return sums.gather(1, chosen), columns.gather(1, chosen)


def highest_sums_by_loops(
    scores: Float[Tensor, "S W"], log_probs: Float[Tensor, "R V"], count: int
) -> tuple[Float[Tensor, "S K"], Int[Tensor, "S K"]]:
    """Return each sentence's `count` highest sums and their columns, if possible by loops."""
    if log_probs.dtype == torch.float64 or count > MOST_BY_LOOPS:
        return highest_sums(scores, log_probs, count)
    from transduce.fast.search_loops import fill_highest_sums

    maxima = find_block_maxima(log_probs, scores.shape[1])
    sums = scores.new_empty(scores.shape[0], count)
    columns = torch.empty(sums.shape, dtype=torch.long)
    tables = [one.contiguous().numpy() for one in (scores, log_probs, maxima)]
    is_full = fill_highest_sums(*tables, BLOCK, sums.numpy(), columns.numpy())
    # not full if too few sums are numbers: the loops leave NaN out
    return (sums, columns) if is_full else highest_sums(scores, log_probs, count)


def find_candidate_columns(
    scores: Float[Tensor, "S W"],
    log_probs: Float[Tensor, "R V"],
    count: int,
    find_maxima: FindMaxima | None,
) -> Int[Tensor, "S C"]:
    """Return C columns of each sentence, among them those of its `count` highest sums.

    They are the columns of the `count` blocks with the highest maxima, and all columns outside
    blocks. If a sentence has at most `count` blocks, they are all of its columns.
    """
    (sentences, width), symbols = scores.shape, log_probs.shape[1]
    blocks = symbols // BLOCK  # blocks of a row; symbols after the last block are always candidates
    if width * blocks <= count:
        return torch.arange(width * symbols, device=scores.device).expand(sentences, -1)
    maxima = (find_maxima or find_block_maxima)(log_probs, width)
    totals = (maxima + scores[:, :, None]).flatten(1)
    indices, inside, outside = tabulate_blocks(width, symbols, scores.device)
    candidates = inside[rank_highest(totals, indices, count)].flatten(1)
    if not outside.shape[0]:
        return candidates
    return torch.cat([candidates, outside.expand(sentences, -1)], dim=1)


def find_block_maxima(
    log_probs: Float[Tensor, "R V"], width: int, is_any: IsAny = operations.is_any
) -> Float[Tensor, "S W blocks"]:
    """Return the highest log p in each block of BLOCK symbols, ignoring NaN; NaN if all are NaN."""
    rows, symbols = log_probs.shape
    whole = log_probs[:, : symbols // BLOCK * BLOCK]
    log_probs = whole.reshape(rows // width, width, -1, BLOCK)
    maxima = log_probs.amax(dim=3)  # NaN where a block has one
    if not is_any(maxima.isnan()):
        return maxima
    is_nan = log_probs.isnan()
    maxima = log_probs.masked_fill(is_nan, -torch.inf).amax(dim=3)
    return maxima.masked_fill(is_nan.all(dim=3), torch.nan)


@functools.lru_cache(maxsize=8)
def tabulate_blocks(
    width: int, symbols: int, device: torch.device
) -> tuple[Int[Tensor, " B"], Int[Tensor, "B block"], Int[Tensor, " rest"]]:
    """Return a sentence's B block indices, each block's columns, and the columns outside blocks.

    A sentence has `width` · `symbols` columns. The result is cached, since every step needs it.
    """
    columns = torch.arange(width * symbols, device=device).view(width, symbols)
    whole = symbols // BLOCK * BLOCK
    inside = columns[:, :whole].reshape(-1, BLOCK)
    return torch.arange(inside.shape[0], device=device), inside, columns[:, whole:].flatten()


def rank_highest(
    values: Float[Tensor, "S C"], columns: Int[Tensor, "*S C"], count: int
) -> Int[Tensor, "S K"]:
    """Return the indices of each row's `count` highest values; equal ones are sorted by `columns`.

    The highest value comes first. The high part of the sort key is the bit pattern of |value| as an
    integer, which grows with |value| and is negated for values above 0. The low part is the column,
    so no two keys are equal. NaN has the largest bits and is not above 0, so it comes last.
    """
    bits = values.float().abs().view(torch.int32)
    keys = (torch.where(values > 0, -bits, bits).long() << 32) | columns
    return keys.topk(count, dim=1, largest=False).indices
