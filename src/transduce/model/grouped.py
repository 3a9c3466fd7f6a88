"""The fast attention of a CPU: a few rectangles, two products each, the backward by hand.

The backward is written out because torch would keep and walk some thirty small tensors a layer
for it. tests/model/test_kernels.py holds it against `Plain`, gradients included.
"""

import math
from collections.abc import Sequence
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.model.dropout import dropout_mask
from transduce.model.rectangles import Rectangle, rectangles
from transduce.model.sight import Sight

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k
# G sentences of one rectangle · t query places and s key places of each


@final
class Grouped:
    """Attention over sentences of near-equal length side by side."""

    def __init__(
        self, queries: Sequence[int], keys: Sequence[int], sight: Sight, device: torch.device
    ) -> None:
        self.rectangles = rectangles(queries, keys, sight, device)

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Attend rectangle by rectangle."""
        seen: Tensor = GroupedAttention.apply(q, k, v, self.rectangles, dropout)
        return seen


class GroupedAttention(torch.autograd.Function):
    """softmax(Q Kᵀ / √d_k) V over rectangles, forward and back    (equation 1)"""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        q: Tensor,
        k: Tensor,
        v: Tensor,
        places: list[Rectangle],
        dropout: float,
    ) -> Tensor:
        seen = q.new_empty(q.shape[0], q.shape[1], v.shape[2])  # [T H d_v]
        kept: list[Tensor] = []
        for one in places:
            laid_q = laid(q, one.query_tokens, one.sentences)  # [GH t K]
            laid_k = laid(k, one.key_tokens, one.sentences)
            laid_v = laid(v, one.key_tokens, one.sentences)
            weights = attention_weights(laid_q, laid_k, one)
            mask = dropout_mask(weights, dropout) if dropout else weights.new_empty(0)
            dropped, real = (weights * mask, one.query_real) if dropout else (weights, None)
            lift(seen, dropped @ laid_v, one.query_tokens, real)
            kept += [laid_q, laid_k, laid_v, weights, mask]
        ctx.save_for_backward(*kept)
        ctx.places, ctx.shapes, ctx.dropout = places, (q.shape, k.shape, v.shape), dropout
        return seen

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_seen: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        d_q, d_k, d_v = (d_seen.new_empty(shape) for shape in ctx.shapes)
        for number, one in enumerate(ctx.places):
            q, k, v, weights, mask = ctx.saved_tensors[5 * number : 5 * number + 5]
            d_laid = laid_gradient(d_seen, one)  # [GH t d_v]
            dropped = weights * mask if ctx.dropout else weights
            d_weights = d_laid @ v.transpose(1, 2)  # [GH t s]
            if ctx.dropout:
                d_weights *= mask
            inner = (d_weights * weights).sum(dim=-1, keepdim=True)
            d_scores = d_weights.sub_(inner).mul_(weights).div_(math.sqrt(q.shape[-1]))
            lift(d_q, d_scores @ k, one.query_tokens, one.query_real)
            lift(d_k, d_scores.transpose(1, 2) @ q, one.key_tokens, one.key_real)
            lift(d_v, dropped.transpose(1, 2) @ d_laid, one.key_tokens, one.key_real)
        return d_q, d_k, d_v, None, None


def attention_weights(
    q: Float[Tensor, "GH t K"], k: Float[Tensor, "GH s K"], one: Rectangle
) -> Float[Tensor, "GH t s"]:
    """softmax(Q Kᵀ / √d_k), hidden places at zero."""
    scores = torch.bmm(q, k.transpose(1, 2)).div_(math.sqrt(q.shape[-1]))
    if one.hidden is not None:
        heads = scores.shape[0] // one.sentences
        by_sentence = scores.view(one.sentences, heads, *scores.shape[1:])
        by_sentence.masked_fill_(one.hidden, -math.inf)
    return softmax(scores)


def softmax(scores: Float[Tensor, "*B s"]) -> Float[Tensor, "*B s"]:
    """Over the last dimension; may overwrite the scores.

    On a CPU torch is up to seven times slower than this for rows narrower than a vector (16).
    """
    if scores.shape[-1] >= 16 or scores.device.type != "cpu":
        return scores.softmax(dim=-1)
    scores.sub_(scores.amax(dim=-1, keepdim=True)).exp_()
    return scores.div_(scores.sum(dim=-1, keepdim=True))


def laid(x: Float[Tensor, "T H K"], tokens: Tensor, sentences: int) -> Float[Tensor, "GH t K"]:
    """Tokens of a packed batch in their places, heads apart."""
    _, heads, width = x.shape
    placed = x.index_select(0, tokens).view(sentences, -1, heads, width)  # [G t H K]
    return placed.transpose(1, 2).reshape(sentences * heads, -1, width)


def laid_gradient(d_seen: Float[Tensor, "T H d_v"], one: Rectangle) -> Float[Tensor, "GH t d_v"]:
    """As `laid`; places past a sentence's end have no gradient."""
    d_laid = laid(d_seen, one.query_tokens, one.sentences)
    if one.query_real is not None:
        heads = d_seen.shape[1]
        real = torch.zeros(len(one.query_tokens), dtype=torch.bool, device=d_seen.device)
        real[one.query_real] = True
        by_sentence = d_laid.view(one.sentences, heads, -1, d_laid.shape[-1])
        by_sentence.mul_(real.view(one.sentences, 1, -1, 1))
    return d_laid


def lift(
    into: Float[Tensor, "T H K"],
    x: Float[Tensor, "GH t K"],
    tokens: Tensor,
    real: Tensor | None = None,
) -> None:
    """Places back to tokens. Without `real`, a repeated token must hold the same value each time.

    Under dropout it does not, for each of its places has a mask of its own.
    """
    heads, width = into.shape[1:]
    sentences = x.shape[0] // heads
    flat = x.view(sentences, heads, -1, width).transpose(1, 2).reshape(-1, heads, width)
    if real is not None:
        flat, tokens = flat.index_select(0, real), tokens.index_select(0, real)
    into.index_copy_(0, tokens, flat)
