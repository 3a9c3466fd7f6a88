"""The attention mask, a value that attention kernels take: which positions may attend to which."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Int
from torch import Tensor

# T query positions · S key positions


@final
@dataclass(frozen=True, kw_only=True)
class AttentionMask:
    """Which positions a position may attend to, itself included    (sections 3.2.3 and 4)"""

    causal: bool = False  # whether a position may attend to earlier ones and itself only
    neighbourhood: int = 0  # r, odd: only to positions with |i - j| <= (r - 1) / 2; 0: to all

    def compute_allowed(
        self, queries: Int[Tensor, " T"], keys: Int[Tensor, " S"]
    ) -> Bool[Tensor, "T S"]:
        """Return True where a query position may attend to a key position."""
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
