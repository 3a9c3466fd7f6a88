"""Where a token stands: sines and cosines, or learned    (section 3.5)"""

from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transduce.errors import InputError
from transduce.settings import Architecture

# T tokens of a batch, end to end


def compute_sinusoids(places: int, d_model: int) -> Float[Tensor, "places d_model"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(same), interleaved."""
    pos = torch.arange(places, dtype=torch.float64)[:, None]
    i = torch.arange(d_model // 2, dtype=torch.float64)[None, :]
    angle = pos / 10_000 ** (2 * i / d_model)  # [places d_model/2]
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@final
class SinusoidalPositions(nn.Module):
    """Nothing to learn and no longest sentence: the table grows when a longer one comes."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", compute_sinusoids(512, d_model).float(), persistent=False)
        self.table: Tensor

    def forward(self, positions: Int[Tensor, " T"], longest: int) -> Float[Tensor, "T d_model"]:
        """The rows of these places, which all lie below `longest`."""
        if longest > len(self.table):
            self.table = compute_sinusoids(2 * longest, self.d_model).to(self.table)
        return self.table[positions]

    if TYPE_CHECKING:
        __call__ = forward


@final
class LearnedPositions(nn.Module):
    """A vector of its own for every place, as in row (E) of Table 3."""

    def __init__(self, places: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(places, d_model))

    def forward(self, positions: Int[Tensor, " T"], longest: int) -> Float[Tensor, "T d_model"]:
        """The rows of these places, which all lie below `longest`."""
        if longest > len(self.weight):
            raise InputError(
                f"a sentence has {longest} pieces, this model learned {len(self.weight)} places",
                "split the line, or train with more architecture.max_positions or with sinusoids",
            )
        return self.weight[positions]

    if TYPE_CHECKING:
        __call__ = forward


def build_positions(architecture: Architecture) -> SinusoidalPositions | LearnedPositions:
    """The positions that a recipe asks for."""
    if architecture.positions == "learned":
        return LearnedPositions(architecture.max_positions, architecture.d_model)
    return SinusoidalPositions(architecture.d_model)
