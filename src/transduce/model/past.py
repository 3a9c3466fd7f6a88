"""What a layer kept of the steps before, when outputs grow by one symbol at a time."""

import math
from dataclasses import dataclass
from typing import final

from jaxtyping import Bool, Float
from torch import Tensor

from transduce.model.grouped import softmax

# R rows · H heads · c columns, the last of them this step's · K = d_k

FOREVER = 1 << 62


@final
@dataclass(frozen=True)
class Past:
    """Windows on a cache: a layer writes into the last column and reads those before it.

    Self-attention keeps keys and values; a recurrent layer its two states; a convolution its
    inputs, which have one width, and none beside it. Before a row began there are zeros.
    """

    keys: Float[Tensor, "R H c K"]
    values: Float[Tensor, "R H c d_v"]
    hidden: Bool[Tensor, "R 1 1 c"] | None  # what attention may not look at, unless it may at all


def look(
    q: Float[Tensor, "B H t K"],
    k: Float[Tensor, "B H s K"],
    v: Float[Tensor, "B H s d_v"],
    hidden: Bool[Tensor, "B 1 1 s"] | None,
) -> Float[Tensor, "B H t d_v"]:
    """softmax(Q Kᵀ / √d_k) V    (equation 1)"""
    scores = q @ k.transpose(-2, -1)
    scores /= math.sqrt(q.shape[-1])
    if hidden is not None:
        scores.masked_fill_(hidden, -math.inf)
    return softmax(scores) @ v
