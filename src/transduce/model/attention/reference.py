"""The reference kernel of attention: equation 1 as written, one sentence after the other.

The fast kernels are tested against the reference kernel, the only one that returns attention
weights.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from transduce.model.attention.mask import AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k
# t query tokens and s key tokens of one sentence


def scaled_dot_product_attention(
    q: Float[Tensor, "H t K"],
    k: Float[Tensor, "H s K"],
    v: Float[Tensor, "H s d_v"],
    allowed: Bool[Tensor, "t s"],
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "H t d_v"], Float[Tensor, "H t s"]]:
    """Return softmax(Q Kᵀ / √d_k) V of one sentence, and the attention weights    (equation 1)"""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return functional.dropout(weights, dropout) @ v, weights


@final
@dataclass(frozen=True)
class ReferenceAttention:
    """The slow attention kernel that the fast kernels are tested against    (equation 1)"""

    queries: Sequence[int]  # the number of query tokens of each sentence
    keys: Sequence[int]  # the number of key tokens of each sentence
    mask: AttentionMask
    device: torch.device

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Compute softmax(Q Kᵀ / √d_k) V of a packed batch, sentence by sentence    (equation 1)"""
        return torch.cat([out for out, _ in self.attend_by_sentence(q, k, v, dropout)])

    def attend_by_sentence(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> list[tuple[Float[Tensor, "t H d_v"], Float[Tensor, "H t s"]]]:
        """Return (attention output, attention weights) of every sentence of a packed batch."""
        results = []
        parts = (q.split(list(self.queries)), k.split(list(self.keys)), v.split(list(self.keys)))
        for one_q, one_k, one_v in zip(*parts, strict=True):
            positions = [torch.arange(len(one), device=self.device) for one in (one_q, one_k)]
            out, weights = scaled_dot_product_attention(
                one_q.transpose(0, 1),
                one_k.transpose(0, 1),
                one_v.transpose(0, 1),
                self.mask.compute_allowed(positions[0], positions[1]),
                dropout,
            )
            results.append((out.transpose(0, 1), weights))
        return results
