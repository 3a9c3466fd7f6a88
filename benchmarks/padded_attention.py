"""torch's own attention over a padded batch, as a kernel: what most programs do."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from transduce.fast.blocks import Spans, index_block_tokens
from transduce.paper.operations import AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


@final
class PaddedAttention:
    """A kernel that pads the batch and calls torch's scaled_dot_product_attention."""

    def __init__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> None:
        ours, theirs = (
            index_block_tokens(Spans.from_lengths(lengths)) for lengths in (queries, keys)
        )
        self.height, self.width = max(queries), max(keys)
        self.query_tokens, self.key_tokens, self.query_real = (
            torch.from_numpy(array.reshape(-1)).to(device)
            for array in (ours.indices, theirs.indices, ours.is_real)
        )
        seen = mask.compute_allowed(torch.arange(self.height), torch.arange(self.width))
        self.allowed = (seen & torch.from_numpy(theirs.is_real)[:, None, None]).to(
            device
        )  # [B 1 t s]

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Pad, attend, and take the padding out again."""
        sides = (q[self.query_tokens], k[self.key_tokens], v[self.key_tokens])
        lengths = (self.height, self.width, self.width)
        padded_q, padded_k, padded_v = (
            side.unflatten(0, (-1, length)).transpose(1, 2)  # [B H t K]
            for side, length in zip(sides, lengths, strict=True)
        )
        seen = functional.scaled_dot_product_attention(
            padded_q, padded_k, padded_v, attn_mask=self.allowed, dropout_p=dropout
        )
        return seen.transpose(1, 2).flatten(0, 1)[self.query_real]
