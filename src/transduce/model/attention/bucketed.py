"""The attention kernel for a CPU: sentences of similar length are computed in one padded block.

The backward pass is written by hand because autograd would store and traverse some thirty small
tensors per layer. tests/model/test_kernels.py compares outputs and gradients with those of
`ReferenceAttention`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.model.attention.head_rows import HeadRows, build_head_rows
from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.padded_blocks import PaddedBlock, build_padded_blocks
from transduce.model.dropout import build_dropout_mask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k
# G sentences of one block, with GH = G · H heads in all · t query and s key positions of each


@final
class BucketedAttention:
    """The attention kernel for a CPU: sentences of similar length share padded blocks."""

    def __init__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> None:
        self.blocks, self.device = build_padded_blocks(queries, keys, mask, device), device
        self.layouts: dict[int, BlockLayout] = {}  # key: number of heads

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute softmax(Q Kᵀ / √d_k) V of a packed batch, block by block    (equation 1)"""
        heads = q.shape[1]
        if heads not in self.layouts:
            self.layouts[heads] = build_block_layout(self.blocks, heads, self.device)
        out: Tensor = BucketedAttentionFunction.apply(q, k, v, self.layouts[heads], dropout)
        return out


@final
@dataclass(frozen=True)
class BlockLayout:
    """Where the heads of a batch's tokens lie in padded blocks, and the blocks' masks."""

    heads: int
    queries: HeadRows
    keys: HeadRows
    masked: Sequence[Tensor | None]  # per block [G 1 t s]: True where a key is hidden


def build_block_layout(
    blocks: Sequence[PaddedBlock], heads: int, device: torch.device
) -> BlockLayout:
    """Compute where each token's heads lie in padded blocks of sentences, and the blocks' masks."""
    return BlockLayout(
        heads,
        build_head_rows([one.queries for one in blocks], heads, device),
        build_head_rows([one.keys for one in blocks], heads, device),
        [one.masked for one in blocks],
    )


class BucketedAttentionFunction(torch.autograd.Function):
    """Autograd function of softmax(Q Kᵀ / √d_k) V over padded blocks    (equation 1)"""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        q: Tensor,
        k: Tensor,
        v: Tensor,
        layout: BlockLayout,
        dropout: float,
    ) -> Tensor:
        """Compute attention block by block; store the attention weights for `backward`."""
        of_q, of_k = layout.queries, layout.keys
        q, k, v = (
            rows.gather_into_blocks(x) for rows, x in ((of_q, q), (of_k, k), (of_k, v))
        )  # [P K]
        out = v.new_empty(len(q), v.shape[1])
        saved: list[Tensor] = []
        for q_block, k_block, v_block, masked, out_block in zip(
            *(of_q.split_into_blocks(q), of_k.split_into_blocks(k), of_k.split_into_blocks(v)),
            *(layout.masked, of_q.split_into_blocks(out)),
            strict=True,
        ):
            weights = compute_attention_weights(q_block, k_block, masked, layout.heads)  # [GH t s]
            scale = build_dropout_mask(weights, dropout) if dropout else weights.new_empty(0)
            torch.bmm(weights * scale if dropout else weights, v_block, out=out_block)
            saved += [weights, scale]
        ctx.save_for_backward(q, k, v, *saved)
        ctx.layout, ctx.dropout = layout, dropout
        return of_q.scatter_back(out, layout.heads)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the gradients of queries, keys and values; None for the other arguments."""
        layout, (q, k, v, *saved) = ctx.layout, ctx.saved_tensors
        of_q, of_k = layout.queries, layout.keys
        d_out = of_q.gather_into_blocks(d_out)
        if of_q.padding is not None:
            d_out.index_fill_(0, of_q.padding, 0)
        d_q, d_k, d_v = (torch.empty_like(side) for side in (q, k, v))
        queries = zip(*(of_q.split_into_blocks(side) for side in (q, d_out, d_q)), strict=True)
        keys = zip(*(of_k.split_into_blocks(side) for side in (k, v, d_k, d_v)), strict=True)
        for of_block in zip(queries, keys, saved[::2], saved[1::2], strict=True):
            (q_block, d_out_block, d_q_block), of_keys, weights, scale = of_block
            k_block, v_block, d_k_block, d_v_block = of_keys
            d_weights = d_out_block @ v_block.transpose(1, 2)  # [GH t s]
            if ctx.dropout:
                d_weights *= scale
            inner = (d_weights * weights).sum(dim=-1, keepdim=True)
            d_scores = d_weights.sub_(inner).mul_(weights).div_(math.sqrt(q_block.shape[-1]))
            dropped = weights * scale if ctx.dropout else weights
            torch.bmm(d_scores, k_block, out=d_q_block)
            torch.bmm(d_scores.transpose(1, 2), q_block, out=d_k_block)
            torch.bmm(dropped.transpose(1, 2), d_out_block, out=d_v_block)
        back = (of_k.scatter_back(side, layout.heads) for side in (d_k, d_v))
        return of_q.scatter_back(d_q, layout.heads), *back, None, None


def compute_attention_weights(
    q: Float[Tensor, "GH t K"],
    k: Float[Tensor, "GH s K"],
    masked: Bool[Tensor, "G 1 t s"] | None,
    heads: int,
) -> Float[Tensor, "GH t s"]:
    """Return the weights softmax(Q Kᵀ / √d_k) of G sentences with H heads; masked pairs get 0.

    A pair is one of the t query positions and one of the s key positions of a sentence.
    """
    scores = torch.bmm(q, k.transpose(1, 2)).div_(math.sqrt(q.shape[-1]))
    if masked is not None:
        scores.unflatten(0, (-1, heads)).masked_fill_(masked, -math.inf)
    return softmax(scores)


def softmax(scores: Float[Tensor, "*B s"]) -> Float[Tensor, "*B s"]:
    """Return the softmax over the last dimension; `scores` may be overwritten.

    For rows of fewer than 16 numbers on a CPU, torch's softmax takes up to seven times as long as
    this function's subtraction, exponential and division.
    """
    if scores.shape[-1] >= 16 or scores.device.type != "cpu":
        return scores.softmax(dim=-1)
    scores.sub_(scores.amax(dim=-1, keepdim=True)).exp_()
    return scores.div_(scores.sum(dim=-1, keepdim=True))
