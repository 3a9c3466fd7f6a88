"""Ways to compute the same attention over a packed batch.

A kernel is prepared once for the lengths of a batch and then called by every layer. `Plain` is
equation 1, sentence by sentence: the truth, and the one that can hand out weights. `Grouped`
(grouped.py) lays sentences of near-equal length into rectangles: the fast one on a CPU.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from transduce.model.attention.mask import AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


@runtime_checkable
class Attend(Protocol):
    """Attention over one batch: queries and what they look at, sentence by sentence."""

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]: ...


@runtime_checkable
class Kernel(Protocol):
    """Prepares attention for the lengths of a batch."""

    def __call__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        sight: AttentionMask,
        device: torch.device,
    ) -> Attend: ...


def scaled_dot_product_attention(
    q: Float[Tensor, "H t K"],
    k: Float[Tensor, "H s K"],
    v: Float[Tensor, "H s d_v"],
    allowed: Bool[Tensor, "t s"],
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "H t d_v"], Float[Tensor, "H t s"]]:
    """softmax(Q Kᵀ / √d_k) V of one sentence, and its weights    (section 3.2.1, equation 1)"""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return functional.dropout(weights, dropout) @ v, weights


@final
@dataclass(frozen=True)
class Plain:
    """Equation 1 for one sentence after the other."""

    queries: Sequence[int]
    keys: Sequence[int]
    sight: AttentionMask
    device: torch.device

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]:
        """Attend sentence by sentence."""
        return torch.cat([seen for seen, _ in self.sentences(q, k, v, dropout)])

    def sentences(
        self, q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0
    ) -> list[tuple[Float[Tensor, "t H d_v"], Float[Tensor, "H t s"]]]:
        """What each sentence sees, and the weights it looked with."""
        results = []
        parts = (q.split(list(self.queries)), k.split(list(self.keys)), v.split(list(self.keys)))
        for one_q, one_k, one_v in zip(*parts, strict=True):
            places = [torch.arange(len(one), device=self.device) for one in (one_q, one_k)]
            seen, weights = scaled_dot_product_attention(
                one_q.transpose(0, 1),
                one_k.transpose(0, 1),
                one_v.transpose(0, 1),
                self.sight.allowed(places[0], places[1]),
                dropout,
            )
            results.append((seen.transpose(0, 1), weights))
        return results
