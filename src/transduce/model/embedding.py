"""The embedding matrix, which maps token ids to vectors    (section 3.4)"""

import math
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

# T tokens of a batch, end to end


@final
class Embedding(nn.Module):
    """A learned vector for every symbol of a vocabulary, multiplied by √d_model    (section 3.4)"""

    def __init__(self, symbols: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(symbols, d_model))

    def forward(self, ids: Int[Tensor, " T"]) -> Float[Tensor, "T d_model"]:
        """Return √d_model times the vector of every token id."""
        return functional.embedding(ids, self.weight) * math.sqrt(self.weight.shape[1])

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the vectors from a normal distribution with standard deviation d_model^-0.5."""
        nn.init.normal_(self.weight, std=self.weight.shape[1] ** -0.5, generator=generator)

    if TYPE_CHECKING:
        __call__ = forward


@final
class OutputBias(nn.Module):
    """A bias for the logit of every symbol, which the paper's model does not have."""

    def __init__(self, symbols: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(symbols))

    def initialise(self, generator: torch.Generator) -> None:  # noqa: ARG002 - nothing is drawn
        """Set the biases to 0."""
        nn.init.zeros_(self.weight)
