"""Padded blocks: sentences of a packed batch, grouped by length into rectangular tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transduce.model.attention.mask import AttentionMask
from transduce.packed import move_to_device

# G sentences of one block · t query positions and s key positions of each · L is t or s

MAX_PADDING_RATIO = 1.5  # highest ratio of the scores that a block computes to those needed
FREE_SCORES = 65_536  # this many scores of padding cost less than one more block


@final
@dataclass(frozen=True)
class BlockTokens:
    """Token indices of a block's queries or keys; padding repeats a sentence's last token."""

    indices: Int[np.ndarray, "G L"]  # indices of tokens in the packed batch
    is_real: Bool[np.ndarray, "G L"]  # False past a sentence's end


@final
@dataclass(frozen=True)
class PaddedBlock:
    """Sentences padded to equal length: token indices of queries and keys, and a mask."""

    queries: BlockTokens
    keys: BlockTokens
    masked: Bool[Tensor, "G 1 t s"] | None  # True where a key is hidden; None if all are visible


def build_padded_blocks(
    queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
) -> list[PaddedBlock]:
    """Group a batch's sentences, given by their lengths, into few blocks with little padding."""
    query_lengths, key_lengths = np.asarray(queries), np.asarray(keys)
    order = np.lexsort((query_lengths, key_lengths))
    bounds = find_bucket_bounds(query_lengths[order], key_lengths[order])
    return [
        build_padded_block(query_lengths, key_lengths, bucket, mask, device)
        for bucket in np.split(order, bounds)
    ]


def find_bucket_bounds(queries: "np.ndarray", keys: "np.ndarray") -> list[int]:
    """Return where to cut a batch into buckets, given its sorted query and key lengths."""
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
    queries: "np.ndarray",
    keys: "np.ndarray",
    bucket: "np.ndarray",
    mask: AttentionMask,
    device: torch.device,
) -> PaddedBlock:
    """Build the padded block of a bucket (sentence indices), given all sentences' lengths."""
    query_tokens, height = index_block_tokens(queries, bucket)
    key_tokens, width = index_block_tokens(keys, bucket)
    masked = None
    if not (mask.is_unrestricted and key_tokens.is_real.all()):
        allowed = mask.compute_allowed(torch.arange(height), torch.arange(width))  # [t s]
        indices = query_tokens.indices
        position = torch.from_numpy(indices - indices[:, :1])  # [G t]; padding: last position
        visible = allowed[position] & torch.from_numpy(key_tokens.is_real)[:, None, :]  # [G t s]
        masked = move_to_device(~visible[:, None], device)
    return PaddedBlock(query_tokens, key_tokens, masked)


def index_block_tokens(
    lengths: "Sequence[int] | np.ndarray", bucket: "np.ndarray | None" = None
) -> tuple[BlockTokens, int]:
    """Return the token indices and the longest length of a bucket's sentences, or of all."""
    every = np.asarray(lengths)
    first = np.cumsum(every) - every
    some = every if bucket is None else every[bucket]
    longest = int(some.max())
    positions = np.arange(longest)[None, :]
    starts = first if bucket is None else first[bucket]
    indices = starts[:, None] + np.minimum(positions, some[:, None] - 1)
    return BlockTokens(indices, positions < some[:, None]), longest
