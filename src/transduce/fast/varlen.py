"""Attention over a packed batch by torch's variable-length kernel for GPUs, without padding

This kernel needs CUDA, half precision and one width for queries, keys and values. The kernel
supports neither dropout of the weights nor arbitrary masks, only windows such as section 4's
neighbourhood, and returns no weights. choose.py decides when the kernel is used.
"""

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, final

import torch
from jaxtyping import Float, Int32
from torch import Tensor
from torch.nn import functional

from transduce.packed import move_to_device
from transduce.paper.operations import AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k

WIDTH_MULTIPLE = 8  # torch's kernel takes only heads whose width is a multiple of this
UNLIMITED = -1  # the width of a window that has no limit, for torch's kernel


def import_varlen_kernel() -> Callable[..., Any]:
    """Return torch's variable-length attention; raise ImportError if this torch has none.

    Importing it also imports torch's compiler.
    """
    from torch.nn.attention.varlen import varlen_attn

    return varlen_attn


@final
class VarlenAttention:
    """Attention over a packed batch by torch's variable-length kernel for GPUs."""

    def __init__(
        self,
        queries: Sequence[int],  # the sentences' lengths
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> None:
        self.attend, self.window = import_varlen_kernel(), compute_window(mask)
        self.query_offsets, self.key_offsets = (
            place_offsets(lengths, device) for lengths in (queries, keys)
        )
        self.longest = round_up_to_power_of_two(max(queries)), round_up_to_power_of_two(max(keys))

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute softmax(Q Kᵀ / √d_k) V of a packed batch    (equation 1)"""
        assert not dropout, "this kernel drops no weights: choose.py takes another"
        width = -(-max(q.shape[-1], v.shape[-1]) // WIDTH_MULTIPLE) * WIDTH_MULTIPLE
        out: Tensor = self.attend(
            pad_width(q, width),
            pad_width(k, width),
            pad_width(v, width),
            self.query_offsets,
            self.key_offsets,
            *self.longest,
            scale=1 / math.sqrt(q.shape[-1]),
            window_size=self.window,
        )
        return out[..., : v.shape[-1]]


class FixedLengths(tuple[int, ...]):  # for a graph, which serves one batch after another
    """Sentence lengths for a CUDA graph: only the longest, and `offsets` at a fixed address."""

    offsets: Int32[Tensor, " n"]

    @staticmethod
    def build(longest: int, offsets: Int32[Tensor, " n"]) -> "FixedLengths":
        """Return lengths whose only item is the bound `longest`, with the given `offsets`."""
        lengths = FixedLengths([longest])
        lengths.offsets = offsets
        return lengths


def place_offsets(lengths: Sequence[int], device: torch.device) -> Int32[Tensor, " n"]:
    """Return the start offsets of packed sentences of these lengths, on a device."""
    if isinstance(lengths, FixedLengths):
        return lengths.offsets
    return move_to_device(compute_offsets(lengths), device)


def compute_window(mask: AttentionMask) -> tuple[int, int]:
    """Return how many keys a mask allows before and after a query, or -1 for all    (3.2.3, 4)"""
    half = UNLIMITED if mask.reach is None else mask.reach
    return half, 0 if mask.causal else half


def compute_offsets(lengths: Sequence[int]) -> Int32[Tensor, " n"]:
    """Return the start offset of each packed sentence, then the total length, in 2^i + 1 entries.

    The total length is repeated until there are 2^i + 1 >= 17 entries. Each repetition stands for
    an empty sentence. With few different shapes, compiled code and captured graphs serve many
    batches.
    """
    ends = list(accumulate(lengths, initial=0))
    more = round_up_to_power_of_two(len(lengths)) - len(lengths)
    return torch.tensor(ends + [ends[-1]] * more, dtype=torch.int32)


def round_up_to_power_of_two(number: int) -> int:
    """Return the smallest power of two that is at least `number` and at least 16."""
    return max(16, 1 << (number - 1).bit_length())


def pad_width(x: Float[Tensor, "T H K"], width: int) -> Float[Tensor, "T H W"]:
    """Pad every head's vector with zeros to W = `width` numbers; attention does not change."""
    return x if x.shape[-1] == width else functional.pad(x, (0, width - x.shape[-1]))
