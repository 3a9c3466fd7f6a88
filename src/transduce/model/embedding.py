"""Symbols to vectors and back, by one matrix    (section 3.4)"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


@final
class Embedding(nn.Module):
    """A vector for every symbol; times √d_model on the way in, not on the way out."""

    def __init__(self, symbols: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(symbols, d_model))
        self.product: Callable[[Tensor], Tensor] | None = None  # another way to the same logits

    def forward(self, ids: Int[Tensor, " T"]) -> Float[Tensor, "T d_model"]:
        """The vectors of these symbols, scaled."""
        return functional.embedding(ids, self.weight) * math.sqrt(self.weight.shape[1])

    def logits(self, states: Float[Tensor, "T d_model"]) -> Float[Tensor, "T V"]:
        """The linear map before the softmax; it has no bias."""
        return self.product(states) if self.product else functional.linear(states, self.weight)

    if TYPE_CHECKING:
        __call__ = forward
