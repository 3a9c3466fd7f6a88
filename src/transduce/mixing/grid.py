"""Self-attention restricted to a two-dimensional neighbourhood, for pictures    (sections 4 and 7)

The positions of a sequence stand in rows of a given length, position i in row i // row and column
i % row. A position attends to positions at most (r - 1) / 2 rows and as many columns away: to all
r · r of them in the encoder, and in the decoder to those that do not come later.
"""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transduce.paper.model import SelfAttention
from transduce.paper.operations import AttentionMask
from transduce.settings import Architecture


@final
@dataclass(frozen=True, kw_only=True)
class GridMask(AttentionMask):
    """The attention mask of pictures: a position may attend to those in a square around it."""

    row: int  # positions of a row

    def compute_allowed(
        self, queries: Int[Tensor, " T"], keys: Int[Tensor, " S"]
    ) -> Bool[Tensor, "T S"]:
        """Return a matrix with True where a query position may attend to a key position."""
        apart = torch.stack(
            [
                keys[None, :] // self.row - queries[:, None] // self.row,
                keys[None, :] % self.row - queries[:, None] % self.row,
            ]
        )  # [2 T S], in rows and in columns
        allowed = (apart.abs() <= (self.neighbourhood - 1) // 2).all(dim=0)
        return allowed & (keys[None, :] <= queries[:, None]) if self.causal else allowed

    @property
    def reach(self) -> int:
        """The most positions to one side that a position attends to, rounded up to whole rows."""
        return (self.neighbourhood + 1) // 2 * self.row


def build_grid_attention(
    sizes: Architecture,
    number: int,  # noqa: ARG001 - all layers are alike
    *,
    causal: bool,
) -> SelfAttention:
    """Build the self-attention of an encoder layer, or of a decoder layer if `causal`."""
    r = sizes.decoder_neighbourhood if causal else sizes.encoder_neighbourhood
    if not r:
        return SelfAttention(sizes, AttentionMask(causal=causal))
    return SelfAttention(
        sizes, GridMask(causal=causal, neighbourhood=r, row=sizes.neighbourhood_row)
    )
