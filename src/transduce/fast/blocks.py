"""Attention over a packed batch by padding: sentences of similar length share a block

On a CPU, with a neighbourhood, long sentences are cut into pieces of neighbouring queries, each
with the keys that its queries may attend to, so that time and memory grow with n r, not with n²,
for n tokens and a neighbourhood of r.

The backward pass is written by hand because autograd would store and traverse some thirty small
tensors per layer. One `index_select` of rows copies the packed tokens of a batch into its blocks,
and one copies them back, unless a token is in several pieces. On a CPU `index_copy_` takes three
times as long, and so does gathering tokens and then transposing heads.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.fast.dropout import build_dropout_mask
from transduce.packed import move_to_device
from transduce.paper.operations import FULL_ATTENTION, AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k
# G sentences or pieces of a block, GH = G · H · t query and s key positions of each
# L is t or s · P = the sum of G · H · L over all blocks


@final
class BucketedAttention:
    """Computes attention over a packed batch in padded blocks of sentences of similar length."""

    def __init__(
        self,
        queries: Sequence[int],  # the sentences' lengths
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> None:
        self.blocks, self.device = build_padded_blocks(queries, keys, mask, device), device
        self.overlap = sum(int(one.keys.is_real.sum()) for one in self.blocks) > sum(keys)
        self.is_one_sentence = [one.queries.indices.shape for one in self.blocks] == [(1, *queries)]
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
        if self.is_one_sentence and not dropout and not torch.is_grad_enabled():
            # without copies this takes a quarter of the time, with the same bits
            q, k, v = (side.transpose(0, 1) for side in (q, k, v))
            weights = compute_attention_weights(q, k, self.blocks[0].masked, heads)
            return torch.bmm(weights, v).transpose(0, 1)
        if heads not in self.layouts:
            self.layouts[heads] = BlockLayout(
                heads,
                build_head_rows([one.queries for one in self.blocks], heads, self.device),
                build_head_rows(
                    [one.keys for one in self.blocks], heads, self.device, overlap=self.overlap
                ),
                [one.masked for one in self.blocks],
            )
        out: Tensor = BucketedAttentionFunction.apply(q, k, v, self.layouts[heads], dropout)
        return out


@final
@dataclass(frozen=True)
class BlockLayout:
    """Index tables from packed tokens to padded blocks and back, and the masks of the blocks."""

    heads: int
    queries: "HeadRows"
    keys: "HeadRows"
    masked: Sequence[Tensor | None]  # per block [G 1 t s]: True where a key is hidden


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
            drop_mask = build_dropout_mask(weights, dropout) if dropout else weights.new_empty(0)
            torch.bmm(weights * drop_mask if dropout else weights, v_block, out=out_block)
            saved += [weights, drop_mask]
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
            (q_block, d_out_block, d_q_block), of_keys, weights, drop_mask = of_block
            k_block, v_block, d_k_block, d_v_block = of_keys
            d_weights = d_out_block @ v_block.transpose(1, 2)  # [GH t s]
            if ctx.dropout:
                d_weights *= drop_mask
            inner = (d_weights * weights).sum(dim=-1, keepdim=True)
            d_scores = d_weights.sub_(inner).mul_(weights).div_(math.sqrt(q_block.shape[-1]))
            dropped = weights * drop_mask if ctx.dropout else weights
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


# A block computes at most MAX_PADDING_RATIO times the scores that it needs, plus FREE_SCORES, which
# take less time than one more block.
MAX_PADDING_RATIO = 1.5
FREE_SCORES = 65_536


@final
@dataclass(frozen=True)
class BlockTokens:
    """Token indices of a block's queries or keys; padding repeats a sentence's last token."""

    indices: Int[np.ndarray, "G L"]  # indices of tokens in the packed batch
    is_real: Bool[np.ndarray, "G L"]  # False past a sentence's end


@final
@dataclass(frozen=True)
class PaddedBlock:
    """Sentences padded to one length, as token indices of queries and keys, and their mask."""

    queries: BlockTokens
    keys: BlockTokens
    masked: Bool[Tensor, "G 1 t s"] | None  # True where a key is hidden; None if all are visible


@final
@dataclass(frozen=True)
class Spans:
    """The start and length of each of several runs of neighbouring tokens in a packed batch."""

    starts: Int[np.ndarray, " pieces"]
    lengths: Int[np.ndarray, " pieces"]

    @classmethod
    def from_lengths(cls, lengths: Sequence[int]) -> "Spans":
        """Return one span for each sentence of these lengths, packed end to end."""
        each = np.asarray(lengths)
        return cls(np.cumsum(each) - each, each)


@final
@dataclass(frozen=True)
class Pieces:
    """The query and key tokens of pieces of a batch; a piece is a sentence or a part of one."""

    queries: Spans
    keys: Spans
    lead: Int[np.ndarray, " pieces"]  # positions between a piece's first key and its first query


LEAST_QUERIES = 32  # the fewest queries of a piece; smaller products would not be fast


def cut_into_pieces(
    queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
) -> Pieces:
    """Return each sentence as one piece, or all cut if that halves a CPU's work for the longest.

    A part has as many queries as a position may attend to on one side, or a multiple of that, so
    that a part of a picture begins at the start of a row. Without a neighbourhood sentences stay
    whole, and also on GPUs, where gradients of keys in several parts would be added in no fixed
    order.
    """
    own, theirs = Spans.from_lengths(queries), Spans.from_lengths(keys)
    whole = Pieces(own, theirs, np.zeros(len(queries), dtype=np.int64))
    if mask.reach is None or device.type != "cpu":
        return whole
    count = math.ceil(LEAST_QUERIES / max(mask.reach, 1)) * max(mask.reach, 1)
    ahead = 0 if mask.causal else mask.reach
    if max(queries) < 2 * (count + mask.reach + ahead):
        return whole
    firsts = [np.arange(0, length, count) for length in queries]
    sentence = np.repeat(np.arange(len(queries)), list(map(len, firsts)))
    start, length = own.starts[sentence], own.lengths[sentence]
    first = np.concatenate(firsts)
    end = np.minimum(first + count, length)
    first_key, end_key = np.maximum(first - mask.reach, 0), np.minimum(end + ahead, length)
    return Pieces(
        Spans(start + first, end - first),
        Spans(start + first_key, end_key - first_key),
        first - first_key,
    )


def build_padded_blocks(
    queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
) -> list[PaddedBlock]:
    """Build a few padded blocks, with little padding, for sentences of these lengths."""
    pieces = cut_into_pieces(queries, keys, mask, device)
    query_lengths, key_lengths = pieces.queries.lengths, pieces.keys.lengths
    order = np.lexsort((query_lengths, key_lengths))
    bounds = find_bucket_bounds(query_lengths[order], key_lengths[order])
    return [build_padded_block(pieces, bucket, mask, device) for bucket in np.split(order, bounds)]


def find_bucket_bounds(queries: "np.ndarray", keys: "np.ndarray") -> list[int]:
    """Return the index of the first piece of each later block, for these sorted lengths."""
    bounds: list[int] = []
    first, needed, tallest = 0, 0, 0
    for index, (query, key) in enumerate(zip(queries.tolist(), keys.tolist(), strict=True)):
        needed += query * key
        tallest = max(tallest, query)
        area = (index + 1 - first) * tallest * key  # keys ascend, so `key` is the longest
        if area > MAX_PADDING_RATIO * needed + FREE_SCORES:
            bounds.append(index)
            first, needed, tallest = index, query * key, query
    return bounds


def build_padded_block(
    pieces: Pieces, bucket: "np.ndarray", mask: AttentionMask, device: torch.device
) -> PaddedBlock:
    """Return the padded block of the pieces with the indices `bucket`."""
    queries, keys = (index_block_tokens(side, bucket) for side in (pieces.queries, pieces.keys))
    masked = None
    if not (mask == FULL_ATTENTION and keys.is_real.all()):
        lead, indices = pieces.lead[bucket, None], queries.indices
        position = indices - indices[:, :1] + lead  # [G t]; padding repeats the last
        rows = torch.arange(int(position.max()) + 1)
        allowed = mask.compute_allowed(rows, torch.arange(keys.indices.shape[1]))
        visible = (
            allowed[torch.from_numpy(position)] & torch.from_numpy(keys.is_real)[:, None, :]
        )  # [G t s]
        masked = move_to_device(~visible[:, None], device)
    return PaddedBlock(queries, keys, masked)


def index_block_tokens(spans: Spans, bucket: "np.ndarray | slice" = slice(None)) -> BlockTokens:
    """Return the token indices of the spans that `bucket` selects, padded to the longest span."""
    lengths = spans.lengths[bucket, None]
    positions = np.arange(lengths.max())[None, :]
    indices = spans.starts[bucket, None] + np.minimum(positions, lengths - 1)
    return BlockTokens(indices, positions < lengths)


@final
@dataclass(frozen=True)
class HeadRows:
    """Index tables to copy one vector per token and head into padded blocks, and back."""

    tokens: Int[Tensor, " P"]  # the token whose vector is in each row of the blocks
    heads: Int[Tensor, " P"]  # the head whose vector is in each row of the blocks
    rows: Int[Tensor, " TH"] | None  # the row of each token and head; None if pieces share tokens
    count: int  # TH, the heads of all tokens
    padding: Int[Tensor, " _"] | None  # the rows past a sentence's end; None if there are none
    shapes: Sequence[tuple[int, int]]  # (G · H, L) of each block

    def gather_into_blocks(self, x: Float[Tensor, "T H K"]) -> Float[Tensor, "P K"]:
        """Copy packed tokens to the P rows of all padded blocks, one row per head and position.

        Padding repeats the last token of a sentence.
        """
        # `step`: how many vectors lie in memory from one token to the next
        step, rest = divmod(x.stride(0), x.shape[2])
        if rest or x.stride(1) != x.shape[2] or x.stride(2) != 1:
            x, step = x.contiguous(), x.shape[1]
        count = (len(x) - 1) * step + x.shape[1]
        every = x.as_strided((count, x.shape[2]), (x.shape[2], 1))  # all heads in memory order
        return every.index_select(0, self.tokens * step + self.heads)

    def scatter_back(self, rows: Float[Tensor, "P K"], heads: int) -> Float[Tensor, "T H K"]:
        """Copy the blocks' P rows to packed tokens; a token in several rows gets their sum.

        Padding is left out if no token is in several rows (`self.rows` is not None); otherwise it
        must be 0.
        """
        if self.rows is None:
            total = rows.new_zeros(self.count, rows.shape[1])
            total.index_add_(0, self.tokens * heads + self.heads, rows)
        else:
            total = rows.index_select(0, self.rows)
        return total.view(-1, heads, rows.shape[1])

    def split_into_blocks(self, rows: Float[Tensor, "P K"]) -> list[Float[Tensor, "GH L K"]]:
        """View the P rows as one tensor per padded block: [sentences G · heads H, length L, K]."""
        counts = [sentences * length for sentences, length in self.shapes]
        return [
            part.view(*shape, rows.shape[1])
            for part, shape in zip(rows.split(counts), self.shapes, strict=True)
        ]


def build_head_rows(
    blocks: Sequence[BlockTokens], heads: int, device: torch.device, *, overlap: bool = False
) -> HeadRows:
    """Build index tables for blocks of queries or keys; pieces may share tokens if `overlap`."""
    shapes = [(len(one.indices), heads, one.indices.shape[1]) for one in blocks]
    tokens = concatenate_broadcast([one.indices[:, None] for one in blocks], shapes)
    head = concatenate_broadcast([np.arange(heads)[:, None] for _ in blocks], shapes)
    is_real = concatenate_broadcast([one.is_real[:, None] for one in blocks], shapes)
    real = np.flatnonzero(is_real)
    count = (int(tokens.max()) + 1) * heads
    rows = np.empty(count, dtype=np.int64)
    rows[tokens[real] * heads + head[real]] = real
    padding = torch.from_numpy(np.flatnonzero(~is_real))
    return HeadRows(
        tokens=move_to_device(torch.from_numpy(tokens), device),
        heads=move_to_device(torch.from_numpy(head), device),
        rows=None if overlap else move_to_device(torch.from_numpy(rows), device),
        count=count,
        padding=move_to_device(padding, device) if len(padding) else None,
        shapes=[(sentences * heads, length) for sentences, _, length in shapes],
    )


def concatenate_broadcast(
    parts: Sequence[np.ndarray], shapes: Sequence[tuple[int, int, int]]
) -> np.ndarray:
    """Broadcast each of `parts` to its shape in `shapes`; join them, flattened, into one vector."""
    spread = [np.broadcast_to(part, shape) for part, shape in zip(parts, shapes, strict=True)]
    return np.concatenate([part.reshape(-1) for part in spread])
