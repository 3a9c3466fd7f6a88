"""The kernels of attention that only a GPU has: torch's for sentences of varying length.

In numbers they are computed sentence by sentence, in float32; in shapes by torch's own functions.
"""

import itertools
import math

import torch
from torch import Tensor


def attend(q, k, v, offsets_q, offsets_k, max_q, max_k, is_causal, scale, window, *_):
    """softmax(Q Kᵀ scale) V of each sentence, and the logarithm of every row's sum."""
    require_valid((q, k, v), (offsets_q, offsets_k), (max_q, max_k))
    out = torch.full_like(q, math.nan)
    sums = torch.full((q.shape[1], len(q)), math.nan)
    for of_q, of_k in sentences(offsets_q, offsets_k):
        scores = compute_scores(q[of_q], k[of_k], scale, window)
        out[of_q] = torch.einsum("hts,shd->thd", scores.softmax(dim=-1), v[of_k].float()).to(q)
        sums[:, of_q] = scores.logsumexp(dim=-1)
    assert is_causal == (tuple(window) == (-1, 0))
    return out, sums, torch.zeros(2, dtype=torch.uint64)


def attend_backward(d_out, q, k, v, *rest):
    """The gradients of queries, keys and values."""
    _out, _sums, offsets_q, offsets_k, _max_q, _max_k, _is_causal, _rng, scale, window = rest
    d_q, d_k, d_v = (torch.full_like(side, math.nan) for side in (q, k, v))
    for of_q, of_k in sentences(offsets_q, offsets_k):
        weights = compute_scores(q[of_q], k[of_k], scale, window).softmax(dim=-1)
        d_o = d_out[of_q].float()
        d_weights = torch.einsum("thd,shd->hts", d_o, v[of_k].float())
        inner = (d_weights * weights).sum(dim=-1, keepdim=True)
        d_scores = (d_weights - inner) * weights * scale
        d_q[of_q] = torch.einsum("hts,shd->thd", d_scores, k[of_k].float()).to(q)
        d_k[of_k] = torch.einsum("hts,thd->shd", d_scores, q[of_q].float()).to(k)
        d_v[of_k] = torch.einsum("hts,thd->shd", weights, d_o).to(v)
    return d_q, d_k, d_v


def sentences(offsets_q: Tensor, offsets_k: Tensor) -> list[tuple[slice, slice]]:
    """Return the tokens of every sentence that is not empty, of queries and of keys."""
    bounds = (itertools.pairwise(side.tolist()) for side in (offsets_q, offsets_k))
    return [(slice(*q), slice(*k)) for q, k in zip(*bounds, strict=True) if q[0] < q[1]]


def compute_scores(q: Tensor, k: Tensor, scale: float, window) -> Tensor:
    """Return the scores of one sentence [H t s], -inf outside the window."""
    scores = torch.einsum("thd,shd->hts", q.float(), k.float()) * scale
    before, after = window
    ahead = torch.arange(len(k)) - torch.arange(len(q))[:, None] - (len(k) - len(q))
    hidden = torch.zeros_like(ahead, dtype=torch.bool)
    hidden |= (ahead < -before) if before >= 0 else False
    hidden |= (ahead > after) if after >= 0 else False
    return scores.masked_fill(hidden, -math.inf)


def require_valid(sides, offsets, longest) -> None:
    """What the kernel demands of types and shapes."""
    assert all(side.dtype in (torch.bfloat16, torch.float16) for side in sides)
    assert len({side.shape[1:] for side in sides}) == 1
    assert sides[0].shape[-1] % 8 == 0
    assert sides[0].shape[-1] <= 256
    for bounds, tokens, most in zip(offsets, sides, longest, strict=False):
        assert bounds.dtype == torch.int32
        assert (bounds[0], bounds[-1]) == (0, len(tokens)), "every token is of some sentence"
        assert 0 <= bounds.diff().min() <= bounds.diff().max() <= most


# by where the data is: what computes an operator that torch has no function for there
KERNELS = {
    "cpu": {
        "torch_attn::_varlen_attn": attend,
        "torch_attn::_varlen_attn_backward": attend_backward,
    },
    "meta": {"aten::_fused_adam_": lambda *_, **__: None},  # changes numbers only
}
