"""Restricted self-attention with exactly r scores per position, as Table 1 counts    (section 4)

Models compute some scores outside the neighbourhood and mask them, which is faster.
"""

import math
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from transduce.mixing.layers import SentenceLayout
from transduce.paper.operations import AttentionMask, BatchAttention, attend_padded

CPU = torch.device("cpu")

# T tokens of a whole batch, end to end · H heads · K = d_k · w positions of a window


def build_windowed_attention(
    queries: Sequence[int], keys: Sequence[int], mask: AttentionMask
) -> BatchAttention:
    """Build attention for a batch on the CPU, windowed if the mask has a neighbourhood."""
    if not mask.neighbourhood:
        return attend_padded(queries, keys, mask)
    return WindowedAttention(queries, mask, CPU)


@final
class WindowedAttention:
    """Self-attention restricted to a window of neighbours of each position    (section 4)"""

    def __init__(self, lengths: Sequence[int], mask: AttentionMask, device: torch.device) -> None:
        assert mask.reach is not None
        half = mask.reach
        self.edges = (half, 0 if mask.causal else half)
        layout = SentenceLayout(lengths)
        layout.move_to(device)
        offsets = torch.arange(-half, self.edges[1] + 1, device=device)  # [w]
        early = offsets < -layout.before[:, None]
        self.masked = (early | (offsets > layout.after[:, None]))[:, None]  # [T 1 w]

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "T H K"],
        v: Float[Tensor, "T H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute softmax(Q Kᵀ / √d_k) V of each position over its window    (equation 1)"""
        scores = (q[:, :, None] @ self.gather_windows(k)).squeeze(2)  # [T H w]
        scores = scores / math.sqrt(q.shape[-1])
        weights = scores.masked_fill(self.masked, -math.inf).softmax(dim=-1)
        weights = functional.dropout(weights, dropout)
        return (self.gather_windows(v) @ weights[..., None]).squeeze(3)

    def gather_windows(self, x: Float[Tensor, "T H K"]) -> Float[Tensor, "T H K w"]:
        """Gather the w vectors of the window around each token, with zeros outside the batch.

        A window may contain tokens of other sentences, which `self.masked` hides.
        """
        return functional.pad(x, (0, 0, 0, 0, *self.edges)).unfold(0, self.masked.shape[2], 1)
