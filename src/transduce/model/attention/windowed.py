"""Restricted self-attention whose cost falls with r: r scores a position and not n    (section 4)

`Plain` and `Grouped` compute all n² scores and hide those out of the neighbourhood; on the short
sentences of a translation that is quicker. Chosen by `Transformer(…, kernel=windowed)`.
"""

import math
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from transduce.model.attention.bucketed import Grouped
from transduce.model.attention.mask import AttentionMask
from transduce.model.attention.reference import Attend
from transduce.model.mixing.sentence_layout import Sentences

# T tokens of a whole batch, end to end · H heads · K = d_k · w places of a window


def windowed(
    queries: Sequence[int], keys: Sequence[int], sight: AttentionMask, device: torch.device
) -> Attend:
    """Windows where a neighbourhood is set; the look at the source has none."""
    if not sight.neighbourhood:
        return Grouped(queries, keys, sight, device)
    return Windowed(queries, sight, device)


@final
class Windowed:
    """Self-attention of each position over a window of the tokens beside it."""

    def __init__(self, lengths: Sequence[int], sight: AttentionMask, device: torch.device) -> None:
        half = (sight.neighbourhood - 1) // 2
        self.edges = (half, 0 if sight.causal else half)
        batch = Sentences(lengths, device)
        offsets = torch.arange(-half, self.edges[1] + 1, device=device)  # [w]
        early = offsets < -batch.before[:, None]
        self.hidden = (early | (offsets > batch.after[:, None]))[:, None]  # [T 1 w]

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "T H K"],
        v: Float[Tensor, "T H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """softmax(Q Kᵀ / √d_k) V over the windows    (equation 1)"""
        scores = (q[:, :, None] @ self.windows(k)).squeeze(2) / math.sqrt(q.shape[-1])  # [T H w]
        weights = scores.masked_fill(self.hidden, -math.inf).softmax(dim=-1)
        weights = functional.dropout(weights, dropout)
        return (self.windows(v) @ weights[..., None]).squeeze(3)

    def windows(self, x: Float[Tensor, "T H K"]) -> Float[Tensor, "T H K w"]:
        """The tokens beside each, those of other sentences too; zeros at the ends of the batch."""
        return functional.pad(x, (0, 0, 0, 0, *self.edges)).unfold(0, self.hidden.shape[2], 1)
