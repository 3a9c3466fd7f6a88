"""Positional encodings: sines and cosines, or learned vectors    (section 3.5)"""

import math
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transduce.errors import InputError
from transduce.settings import Architecture

# T tokens of a batch, end to end


def compute_sinusoids(count: int, d_model: int) -> Float[Tensor, "count d_model"]:
    """Compute PE(pos, 2i) = sin(pos / 10000^(2i/d_model)) and, with cos, PE(pos, 2i+1)    (3.5)"""
    pos = torch.arange(count, dtype=torch.float64)[:, None]
    i = torch.arange(d_model // 2, dtype=torch.float64)[None, :]
    angle = pos / 10_000 ** (2 * i / d_model)  # [count d_model/2]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@final
class SinusoidalPositions(nn.Module):
    """Sinusoidal positional encoding, with a table that grows for longer sentences    (3.5)"""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", compute_sinusoids(512, d_model).float(), persistent=False)
        self.table: Tensor

    def forward(self, positions: Int[Tensor, " T"], longest: int) -> Float[Tensor, "T d_model"]:
        """Return the encodings of all tokens' positions, which must be below `longest`."""
        if longest > len(self.table):
            self.table = compute_sinusoids(2 * longest, self.d_model).to(self.table)
        return self.table[positions]

    if TYPE_CHECKING:
        __call__ = forward


@final
class LearnedPositions(nn.Module):
    """Learned positional encoding: one vector for each position    (Table 3, row E)"""

    def __init__(self, count: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(count, d_model))

    def forward(self, positions: Int[Tensor, " T"], longest: int) -> Float[Tensor, "T d_model"]:
        """Return the vectors of all tokens' positions; raise InputError if too few were learned."""
        if longest > len(self.weight):
            raise InputError(
                f"a sentence has {longest} pieces, this model learned {len(self.weight)} positions",
                "split the line, or train with more architecture.max_positions or with sinusoids",
            )
        return self.weight[positions]

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the vectors from a normal distribution, as large as sinusoids (decision 0044)."""
        nn.init.normal_(self.weight, std=math.sqrt(1 / 2), generator=generator)

    if TYPE_CHECKING:
        __call__ = forward


def build_positions(architecture: Architecture) -> SinusoidalPositions | LearnedPositions:
    """Build the positional encoding that `architecture.positions` names."""
    if architecture.positions == "learned":
        return LearnedPositions(architecture.max_positions, architecture.d_model)
    return SinusoidalPositions(architecture.d_model)
