"""Attention of a GPU: torch's own kernel for sentences end to end, which needs no rectangle.

It wants CUDA, half precision and one width for queries, keys and values; it knows neither dropout
on the weights nor a mask, but a window, and section 4's neighbourhood is one. Who asks for the
weights asks `Plain`. When it fits is said in fitting.py.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, final

import torch
from jaxtyping import Float, Int32
from torch import Tensor
from torch.nn import functional

from transduce.model.attention.mask import AttentionMask
from transduce.packed import sent

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k

STEP = 8  # the kernel takes widths that are multiples of it
UNLIMITED = -1


def varlen() -> Callable[..., Any]:
    """torch's kernel; imported when it is first asked for, since it comes with the compiler."""
    from torch.nn.attention.varlen import varlen_attn

    return varlen_attn


@final
class VariableLength:
    """softmax(Q Kᵀ / √d_k) V, every sentence for itself    (equation 1)"""

    def __init__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        sight: AttentionMask,
        device: torch.device,
    ) -> None:
        self.attend, self.window = varlen(), window(sight)
        self.query_offsets, self.key_offsets = (
            sent(offsets(lengths), device) for lengths in (queries, keys)
        )
        self.longest = rounded(max(queries)), rounded(max(keys))

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Attend; zeros beside narrow queries and keys add nothing to a product."""
        assert not dropout, "this kernel drops no weights: fitting.py chooses another"
        width = -(-max(q.shape[-1], v.shape[-1]) // STEP) * STEP
        seen: Tensor = self.attend(
            widened(q, width),
            widened(k, width),
            widened(v, width),
            self.query_offsets,
            self.key_offsets,
            *self.longest,
            scale=1 / math.sqrt(q.shape[-1]),
            window_size=self.window,
        )
        return seen[..., : v.shape[-1]]


def window(sight: AttentionMask) -> tuple[int, int]:
    """How many tokens before and after each are seen    (sections 3.2.3 and 4)"""
    half = (sight.neighbourhood - 1) // 2 if sight.neighbourhood else UNLIMITED
    return half, 0 if sight.causal else half


def offsets(lengths: Sequence[int]) -> Int32[Tensor, " n"]:
    """Where sentences begin and end. Empty ones at the end round their number up.

    So few different shapes come: what was compiled or captured for one serves the next batch.
    """
    ends = list(accumulate(lengths, initial=0))
    more = rounded(len(lengths)) - len(lengths)
    return torch.tensor(ends + [ends[-1]] * more, dtype=torch.int32)


def rounded(number: int) -> int:
    """The next power of two, 16 at least."""
    return max(16, 1 << (number - 1).bit_length())


def widened(x: Float[Tensor, "T H K"], width: int) -> Float[Tensor, "T H W"]:
    """With zeros on the right."""
    return x if x.shape[-1] == width else functional.pad(x, (0, width - x.shape[-1]))
