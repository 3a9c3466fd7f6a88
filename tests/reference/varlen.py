"""What torch's documentation says of `torch.nn.attention.varlen.varlen_attn`, as slow as can be.

It stands in the kernel's position where no GPU is, and is stricter: it refuses what the kernel
would read out of bounds, and leaves what no sentence covers as NaN.
"""

import itertools
import math

import torch


def varlen_attn(
    query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, scale=None, window_size=(-1, -1)
):
    """One sentence, one head, one query after the other."""
    require_valid(query, key, value, cu_seq_q, cu_seq_k, (max_q, max_k))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    out = torch.full_like(query, math.nan)
    ends = list(zip(cu_seq_q.tolist(), cu_seq_k.tolist(), strict=True))
    for (q_first, k_first), (q_end, k_end) in itertools.pairwise(ends):
        for head in range(query.shape[1]):
            for position in range(q_first, q_end):
                # the last query stands aligned the last key
                aligned = k_end - q_end + position
                before, after = window_size
                low = k_first if before < 0 else max(k_first, aligned - before)
                high = k_end if after < 0 else min(k_end, aligned + after + 1)
                scores = key[low:high, head] @ query[position, head] * scale
                out[position, head] = scores.softmax(dim=0) @ value[low:high, head]
    return out


def require_valid(query, key, value, cu_seq_q, cu_seq_k, longest):
    """The shapes and types that the kernel demands."""
    assert query.shape[-1] == key.shape[-1] == value.shape[-1], "one width for all"
    assert query.shape[-1] % 8 == 0
    assert query.shape[1] == key.shape[1] == value.shape[1]
    for offsets, tokens, most in zip((cu_seq_q, cu_seq_k), (query, key), longest, strict=True):
        assert offsets.dtype == torch.int32
        assert offsets[0] == 0
        assert offsets[-1] == len(tokens), "every token is of some sentence"
        assert isinstance(most, int)
        assert offsets.diff().min() >= 0
        assert offsets.diff().max() <= most
    assert len(cu_seq_q) == len(cu_seq_k)
