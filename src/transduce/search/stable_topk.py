"""Deterministic top-k: the same result on every device and in any batch; leftmost wins a tie.

`torch.topk` breaks ties in an order that depends on its algorithm, and is slow on wide rows.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

# S sentences · W hypotheses of each · R = S W rows, one per hypothesis · V symbols
# C candidates of a sentence's W V columns (hypothesis-symbol pairs) · K = `count`

BLOCK = 64  # number of neighbouring symbols of which at first only the maximum is compared


def stable_topk(
    values: Float[Tensor, "S C"], count: int
) -> tuple[Float[Tensor, "S K"], Int[Tensor, "S K"]]:
    """Return the `count` highest values of each row and their columns, highest first.

    Ties go to the leftmost column, 0.0 and -0.0 are equal, NaN comes last.
    """
    columns = torch.arange(values.shape[1], device=values.device).expand_as(values)
    columns = choose_columns(values, columns, count)
    return values.gather(1, columns), columns


def stable_topk_sums(
    scores: Float[Tensor, "S W"], log_probs: Float[Tensor, "R V"], count: int
) -> tuple[Float[Tensor, "S K"], Int[Tensor, "S K"]]:
    """Return each sentence's `count` highest sums of score and log-probability, and their columns.

    The column of symbol v after hypothesis w is w V + v.
    """

    def sum_columns(columns: Int[Tensor, "S C"]) -> Float[Tensor, "S C"]:
        rows = columns // log_probs.shape[1]
        return log_probs.reshape(len(scores), -1).gather(1, columns) + scores.gather(1, rows)

    columns = find_candidate_columns(scores, log_probs, count)
    columns = choose_columns(sum_columns(columns), columns, count)
    return sum_columns(columns), columns


def find_candidate_columns(
    scores: Float[Tensor, "S W"], log_probs: Float[Tensor, "R V"], count: int
) -> Int[Tensor, "S C"]:
    """Return C columns (hypothesis-symbol pairs) per sentence, among them the `count` best.

    These are the columns of the `count` blocks with the highest maxima, and all columns outside
    blocks.
    """
    (sentences, width), symbols, device = scores.shape, log_probs.shape[1], scores.device
    blocks = symbols // BLOCK  # blocks of a row; symbols after the last block are always candidates
    if width * blocks <= count:
        return torch.arange(width * symbols, device=device).expand(sentences, -1)
    maxima = find_block_maxima(log_probs[:, : blocks * BLOCK].unflatten(1, (blocks, BLOCK)))
    totals = (maxima.view(*scores.shape, blocks) + scores[:, :, None]).flatten(1)
    _, best = stable_topk(totals, count)
    firsts = best // blocks * symbols + best % blocks * BLOCK  # [S K]
    inside = firsts[:, :, None] + torch.arange(BLOCK, device=device)
    ends = torch.arange(1, width + 1, device=device)[:, None] * symbols
    remainder = ends - torch.arange(symbols % BLOCK, 0, -1, device=device)
    return torch.cat([inside.flatten(1), remainder.flatten().expand(sentences, -1)], dim=1)


def find_block_maxima(log_probs: Float[Tensor, "R blocks size"]) -> Float[Tensor, "R blocks"]:
    """Return the highest log-probability of each block, NaN left out; NaN if all are NaN."""
    maxima = log_probs.amax(dim=2)  # NaN where a block has one
    if maxima.device.type == "cpu" and not maxima.isnan().any():  # no wait for a GPU
        return maxima
    is_nan = log_probs.isnan()
    maxima = log_probs.masked_fill(is_nan, -torch.inf).amax(dim=2)
    return maxima.masked_fill(is_nan.all(dim=2), torch.nan)


def choose_columns(
    values: Float[Tensor, "S C"], columns: Int[Tensor, "S C"], count: int
) -> Int[Tensor, "S K"]:
    """Choose, in each row, the `count` entries of `columns` with the highest `values`, best first.

    The high part of the sort key is the bit pattern of |value|, negated for values above 0: as an
    integer the pattern increases with |value|. The low part is the column, so no two keys are
    equal. NaN has the largest bits and is not above 0, so NaN comes last whatever its sign.
    """
    bits = values.float().abs().view(torch.int32)
    keys = (torch.where(values > 0, -bits, bits).long() << 32) | columns
    return keys.topk(count, dim=1, largest=False).values & 0xFFFFFFFF
