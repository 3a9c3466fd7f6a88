"""Protocols of an attention kernel and of the attention function that it builds for a batch.

`ReferenceAttention` (reference.py) is equation 1, sentence by sentence: slow, and the only one that
returns attention weights. `BucketedAttention` (bucketed.py) groups sentences of similar length into
padded blocks: the fastest on a CPU. `VarlenAttention` (varlen.py) is torch's own kernel on a GPU.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.model.attention.mask import AttentionMask

# T query tokens and S key tokens of a whole batch, end to end · H heads · K = d_k


@runtime_checkable
class BatchAttention(Protocol):
    """Attention built for one batch: computes softmax(Q Kᵀ / √d_k) V    (equation 1)"""

    def __call__(
        self,
        q: Float[Tensor, "T H K"],
        k: Float[Tensor, "S H K"],
        v: Float[Tensor, "S H d_v"],
        dropout: float = 0.0,
    ) -> Float[Tensor, "T H d_v"]: ...


@runtime_checkable
class AttentionKernel(Protocol):
    """A function or class that builds attention from the sentence lengths of one batch."""

    def __call__(
        self,
        queries: Sequence[int],
        keys: Sequence[int],
        mask: AttentionMask,
        device: torch.device,
    ) -> BatchAttention: ...
