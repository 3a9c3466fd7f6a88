"""The fast attention of a CPU: a few rectangles, two products each, the backward by hand.

The backward is written out because torch would keep and walk some thirty small tensors a layer
for it. tests/model/test_kernels.py holds it against `Plain`, gradients included.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.model.attention.head_rows import Rows, rows_of
from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.padded_blocks import Rectangle, rectangles
from transduce.model.dropout import dropout_mask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k
# G sentences of one rectangle · t query places and s key places of each


@final
class Grouped:
    """Attention over sentences of near-equal length side by side."""

    def __init__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        sight: AttentionMask,
        device: torch.device,
    ) -> None:
        self.rectangles, self.device = rectangles(queries, keys, sight, device), device
        self.layouts: dict[int, Layout] = {}  # by how many heads there are

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Attend rectangle by rectangle."""
        heads = q.shape[1]
        if heads not in self.layouts:
            self.layouts[heads] = layout_of(self.rectangles, heads, self.device)
        seen: Tensor = GroupedAttention.apply(q, k, v, self.layouts[heads], dropout)
        return seen


@final
@dataclass(frozen=True)
class Layout:
    """The places of all rectangles, and what may not be seen in each."""

    heads: int
    queries: Rows
    keys: Rows
    hidden: Sequence[Tensor | None]


def layout_of(places: Sequence[Rectangle], heads: int, device: torch.device) -> Layout:
    """All rectangles of a batch, for so many heads."""
    return Layout(
        heads,
        rows_of([one.queries for one in places], heads, device),
        rows_of([one.keys for one in places], heads, device),
        [one.hidden for one in places],
    )


class GroupedAttention(torch.autograd.Function):
    """softmax(Q Kᵀ / √d_k) V over rectangles, forward and back    (equation 1)"""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        q: Tensor,
        k: Tensor,
        v: Tensor,
        layout: Layout,
        dropout: float,
    ) -> Tensor:
        ours, theirs = layout.queries, layout.keys
        q, k, v = ours.laid(q), theirs.laid(k), theirs.laid(v)  # [P K]
        seen = v.new_empty(len(q), v.shape[1])
        kept: list[Tensor] = []
        for one, to, of, hidden, into in zip(
            *(ours.parts(q), theirs.parts(k), theirs.parts(v), layout.hidden, ours.parts(seen)),
            strict=True,
        ):
            weights = attention_weights(one, to, hidden, layout.heads)  # [GH t s]
            mask = dropout_mask(weights, dropout) if dropout else weights.new_empty(0)
            torch.bmm(weights * mask if dropout else weights, of, out=into)
            kept += [weights, mask]
        ctx.save_for_backward(q, k, v, *kept)
        ctx.layout, ctx.dropout = layout, dropout
        return ours.lifted(seen, layout.heads)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_seen: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        layout, (q, k, v, *kept) = ctx.layout, ctx.saved_tensors
        ours, theirs = layout.queries, layout.keys
        d_out = ours.laid(d_seen)
        if ours.past is not None:
            d_out.index_fill_(0, ours.past, 0)
        d_q, d_k, d_v = (torch.empty_like(side) for side in (q, k, v))
        queries = zip(ours.parts(q), ours.parts(d_out), ours.parts(d_q), strict=True)
        keys = zip(*(theirs.parts(side) for side in (k, v, d_k, d_v)), strict=True)
        for of_queries, of_keys, weights, mask in zip(
            queries, keys, kept[::2], kept[1::2], strict=True
        ):
            (one, d_one, into_q), (to, of, into_k, into_v) = of_queries, of_keys
            d_weights = d_one @ of.transpose(1, 2)  # [GH t s]
            if ctx.dropout:
                d_weights *= mask
            inner = (d_weights * weights).sum(dim=-1, keepdim=True)
            d_scores = d_weights.sub_(inner).mul_(weights).div_(math.sqrt(one.shape[-1]))
            dropped = weights * mask if ctx.dropout else weights
            torch.bmm(d_scores, to, out=into_q)
            torch.bmm(d_scores.transpose(1, 2), one, out=into_k)
            torch.bmm(dropped.transpose(1, 2), d_one, out=into_v)
        back = ours.lifted(d_q, layout.heads), *(theirs.lifted(d, layout.heads) for d in (d_k, d_v))
        return *back, None, None


def attention_weights(
    q: Float[Tensor, "GH t K"],
    k: Float[Tensor, "GH s K"],
    hidden: Bool[Tensor, "G 1 t s"] | None,
    heads: int,
) -> Float[Tensor, "GH t s"]:
    """softmax(Q Kᵀ / √d_k), hidden places at zero."""
    scores = torch.bmm(q, k.transpose(1, 2)).div_(math.sqrt(q.shape[-1]))
    if hidden is not None:
        scores.unflatten(0, (-1, heads)).masked_fill_(hidden, -math.inf)
    return softmax(scores)


def softmax(scores: Float[Tensor, "*B s"]) -> Float[Tensor, "*B s"]:
    """Over the last dimension; may overwrite the scores.

    On a CPU torch is up to seven times slower than this for rows narrower than a vector (16).
    """
    if scores.shape[-1] >= 16 or scores.device.type != "cpu":
        return scores.softmax(dim=-1)
    scores.sub_(scores.amax(dim=-1, keepdim=True)).exp_()
    return scores.div_(scores.sum(dim=-1, keepdim=True))
