"""The attention mask that all kernels take: which positions may attend to which."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

# T query positions · S key positions


@final
@dataclass(frozen=True, kw_only=True)
class AttentionMask:
    """The rule for which positions may attend to which    (sections 3.2.3 and 4)"""

    causal: bool = False  # whether a position may attend only to itself and earlier positions
    neighbourhood: int = 0  # odd r: |i - j| <= (r - 1) / 2 for positions i and j; 0: no limit

    def compute_allowed(
        self, queries: Int[Tensor, " T"], keys: Int[Tensor, " S"]
    ) -> Bool[Tensor, "T S"]:
        """Return a matrix with True where a query position may attend to a key position."""
        ahead = keys[None, :] - queries[:, None]  # [T S]
        allowed = torch.ones_like(ahead, dtype=torch.bool)
        if self.causal:
            allowed &= ahead <= 0
        if self.neighbourhood:
            allowed &= ahead.abs() <= (self.neighbourhood - 1) // 2
        return allowed

    @property
    def is_unrestricted(self) -> bool:
        """True if every position may attend to every other."""
        return not self.causal and self.neighbourhood == 0


FULL_ATTENTION = AttentionMask()
