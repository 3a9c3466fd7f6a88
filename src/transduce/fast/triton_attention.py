"""Attention over short sentences on a GPU by Triton, with one program per sentence and head

torch's variable-length kernel is made for long sequences. In sentences of 28 tokens, most of each
tile that it computes is padding, and it took a third of the base model's update. Here a program
holds all queries, keys and values of its sentence and head, and the backward pass recomputes the
weights.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.fast.varlen import (
    VarlenAttention,
    compute_window,
    place_offsets,
    round_up_to_power_of_two,
)
from transduce.paper.operations import FULL_ATTENTION, AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k

MOST_TOKENS = 128  # longer sentences' scores do not fit in the registers of a program
WIDTHS = (16, 32, 64, 128)  # the widths of heads that the kernels take
NO_LIMIT = 1 << 20  # the width of a window that has no limit


@triton.jit
def load_rows(base, tokens, width, token_stride, real):  # type: ignore[no-untyped-def]
    """Return the vectors of `tokens`, loaded from address `base`, or 0 where `real` is False."""
    at = base + tokens[:, None] * token_stride + width[None, :]
    return tl.load(at, mask=real[:, None], other=0.0)


@triton.jit
def compute_weights(q, k, keys, scale, before, after, QUERIES: tl.constexpr, KEYS: tl.constexpr):  # type: ignore[no-untyped-def]
    """Return softmax(Q Kᵀ / √d_k) within a window, and 0 for queries that may attend to no key."""
    row, column = tl.arange(0, QUERIES)[:, None], tl.arange(0, KEYS)[None, :]
    allowed = (column < keys) & (column >= row - before) & (column <= row + after)
    scores = tl.where(allowed, tl.dot(q, tl.trans(k)) * scale, float("-inf"))
    highest = tl.max(scores, axis=1)
    highest = tl.where(highest == float("-inf"), 0.0, highest)
    weights = tl.exp(scores - highest[:, None])
    total = tl.sum(weights, axis=1)
    return weights / tl.where(total == 0.0, 1.0, total)[:, None]


@triton.jit
def attend_forward(  # type: ignore[no-untyped-def]
    q_at, k_at, v_at, out_at, query_offsets, key_offsets,
    q_token, k_token, v_token, q_head, k_head, v_head, out_token, out_head,
    scale, before, after,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, K: tl.constexpr, V: tl.constexpr,
):  # fmt: skip
    """Write the attention of one sentence and head to `out_at`."""
    sentence, head = tl.program_id(0), tl.program_id(1)
    first_query, first_key = tl.load(query_offsets + sentence), tl.load(key_offsets + sentence)
    queries = tl.load(query_offsets + sentence + 1) - first_query
    keys = tl.load(key_offsets + sentence + 1) - first_key
    if queries > 0:
        row, column = tl.arange(0, QUERIES), tl.arange(0, KEYS)
        k_width, v_width = tl.arange(0, K), tl.arange(0, V)
        q = load_rows(q_at + head * q_head, first_query + row, k_width, q_token, row < queries)
        k = load_rows(k_at + head * k_head, first_key + column, k_width, k_token, column < keys)
        v = load_rows(v_at + head * v_head, first_key + column, v_width, v_token, column < keys)
        weights = compute_weights(q, k, keys, scale, before, after, QUERIES, KEYS)
        out = tl.dot(weights.to(v.dtype), v)
        at = out_at + head * out_head + (first_query + row)[:, None] * out_token + v_width[None, :]
        tl.store(at, out.to(v.dtype), mask=(row < queries)[:, None])


@triton.jit
def attend_backward(  # type: ignore[no-untyped-def]
    q_at, k_at, v_at, d_out_at, d_q_at, d_k_at, d_v_at, query_offsets, key_offsets,
    q_token, k_token, v_token, q_head, k_head, v_head, out_token, out_head,
    d_q_token, d_k_token, d_v_token, d_q_head, d_k_head, d_v_head,
    scale, before, after,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, K: tl.constexpr, V: tl.constexpr,
):  # fmt: skip
    """Write the gradients of the queries, keys and values of one sentence and head."""
    sentence, head = tl.program_id(0), tl.program_id(1)
    first_query, first_key = tl.load(query_offsets + sentence), tl.load(key_offsets + sentence)
    queries = tl.load(query_offsets + sentence + 1) - first_query
    keys = tl.load(key_offsets + sentence + 1) - first_key
    if (queries > 0) | (keys > 0):
        row, column = tl.arange(0, QUERIES), tl.arange(0, KEYS)
        k_width, v_width = tl.arange(0, K), tl.arange(0, V)
        is_query, is_key = row < queries, column < keys
        q = load_rows(q_at + head * q_head, first_query + row, k_width, q_token, is_query)
        k = load_rows(k_at + head * k_head, first_key + column, k_width, k_token, is_key)
        v = load_rows(v_at + head * v_head, first_key + column, v_width, v_token, is_key)
        d_out = load_rows(
            d_out_at + head * out_head, first_query + row, v_width, out_token, is_query
        )
        weights = compute_weights(q, k, keys, scale, before, after, QUERIES, KEYS)
        d_weights = tl.dot(d_out, tl.trans(v))
        mean = tl.sum(weights * d_weights, axis=1)
        d_scores = (weights * (d_weights - mean[:, None]) * scale).to(q.dtype)
        d_q = tl.dot(d_scores, k)
        d_k = tl.dot(tl.trans(d_scores), q)
        d_v = tl.dot(tl.trans(weights.to(q.dtype)), d_out)
        query_at, key_at = (first_query + row)[:, None], (first_key + column)[:, None]
        tl.store(
            d_q_at + head * d_q_head + query_at * d_q_token + k_width[None, :],
            d_q.to(q.dtype),
            mask=is_query[:, None],
        )
        tl.store(
            d_k_at + head * d_k_head + key_at * d_k_token + k_width[None, :],
            d_k.to(q.dtype),
            mask=is_key[:, None],
        )
        tl.store(
            d_v_at + head * d_v_head + key_at * d_v_token + v_width[None, :],
            d_v.to(q.dtype),
            mask=is_key[:, None],
        )


@final
class ShortAttentionFunction(torch.autograd.Function):
    """Autograd function of softmax(Q Kᵀ / √d_k) V over a packed batch of short sentences."""

    @staticmethod
    def forward(ctx: Any, layout: "Layout", q: Tensor, k: Tensor, v: Tensor) -> Tensor:  # noqa: ANN401
        """Return the attention of every query."""
        ctx.layout = layout
        ctx.save_for_backward(q, k, v)
        return run_forward(layout, q, k, v)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return None for `layout`, then the gradients of queries, keys and values."""
        return (None, *run_backward(ctx.layout, d_out, *ctx.saved_tensors))


class Layout(NamedTuple):
    """Sentence offsets, longest lengths, and how many keys before and after a query it may use."""

    query_offsets: Tensor
    key_offsets: Tensor
    longest_query: int
    longest_key: int
    before: int
    after: int


@final
class ShortAttention:
    """Attention over a packed batch on a GPU, for sentences of at most MOST_TOKENS tokens."""

    def __init__(
        self,
        queries: Sequence[int],  # the sentences' lengths
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> None:
        before, after = (NO_LIMIT if side < 0 else side for side in compute_window(mask))
        ours, theirs = (place_offsets(side, device) for side in (queries, keys))
        self.layout = Layout(ours, theirs, max(queries), max(keys), before, after)

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute softmax(Q Kᵀ / √d_k) V of a packed batch    (equation 1)"""
        assert not dropout, "this kernel drops no weights: choose.py takes another"
        out: Tensor = ShortAttentionFunction.apply(self.layout, q, k, v)
        return out


def build_packed_attention(
    queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
) -> ShortAttention | VarlenAttention:
    """Build a batch's `ShortAttention`, or `VarlenAttention` if a sentence is too long for it."""
    is_short = max(max(queries), max(keys)) <= MOST_TOKENS
    return (ShortAttention if is_short else VarlenAttention)(queries, keys, mask, device)


def try_kernels(device: torch.device, d_k: int, d_v: int) -> None:
    """Run both attention kernels once; raise an error if they fail or give wrong numbers."""
    if not {d_k, d_v} <= set(WIDTHS):
        raise ValueError(f"these kernels take heads of {WIDTHS} numbers")
    q, k, v = (
        torch.ones(MOST_TOKENS, 1, width, device=device, dtype=torch.bfloat16, requires_grad=True)
        for width in (d_k, d_k, d_v)
    )
    lengths = [MOST_TOKENS]
    out = ShortAttention(lengths, lengths, FULL_ATTENTION, device)(q, k, v)
    _, _, d_v_found = torch.autograd.grad(out.sum(), (q, k, v))
    for found in (out, d_v_found):  # weights that sum to 1 leave ones
        torch.testing.assert_close(found, torch.ones_like(found))


def run_forward(layout: Layout, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Run the forward kernel; return the attention of every query."""
    query_offsets, key_offsets, longest_query, longest_key, before, after = layout
    q, k, v = map(with_dense_heads, (q, k, v))
    out = v.new_empty(q.shape[0], q.shape[1], v.shape[2])
    tile = round_up_to_power_of_two(longest_query), round_up_to_power_of_two(longest_key)
    sizes = (*tile, q.shape[2], v.shape[2])
    attend_forward[(len(query_offsets) - 1, q.shape[1])](
        q, k, v, out, query_offsets, key_offsets, *list_strides(q, k, v), *list_strides(out),
        q.shape[2] ** -0.5, before, after, *sizes, num_warps=count_warps(sizes),
    )  # fmt: skip
    return out


def run_backward(
    layout: Layout, d_out: Tensor, q: Tensor, k: Tensor, v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Run the backward kernel; return the gradients of queries, keys and values."""
    query_offsets, key_offsets, longest_query, longest_key, before, after = layout
    q, k, v, d_out = map(with_dense_heads, (q, k, v, d_out))
    d_q, d_k, d_v = found = q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)
    tile = round_up_to_power_of_two(longest_query), round_up_to_power_of_two(longest_key)
    sizes = (*tile, q.shape[2], v.shape[2])
    attend_backward[(len(query_offsets) - 1, q.shape[1])](
        q, k, v, d_out, d_q, d_k, d_v, query_offsets, key_offsets,
        *list_strides(q, k, v), *list_strides(d_out), *list_strides(d_q, d_k, d_v),
        q.shape[2] ** -0.5, before, after, *sizes, num_warps=count_warps(sizes),
    )  # fmt: skip
    return found


def list_strides(*sides: Tensor) -> list[int]:
    """Return the strides between tokens of all tensors, then the strides between heads of all."""
    return [side.stride(n) for n in (0, 1) for side in sides]


def count_warps(sizes: tuple[int, int, int, int]) -> int:
    """Return Triton's num_warps for a kernel with these tile sizes: queries, keys, d_k and d_v."""
    scores = sizes[0] * sizes[1]
    return 1 if scores <= 32 * 32 else 4 if scores <= 64 * 64 else 8


def with_dense_heads(x: Tensor) -> Tensor:
    """Return x with each head's vector contiguous, as the kernels require; a copy if needed."""
    return x if x.stride(2) == 1 else x.contiguous()
