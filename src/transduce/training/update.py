"""What one update did."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

# M micro-batches of the update


@final
@dataclass(frozen=True)
class Update:
    """What one update did."""

    step: int
    loss: float  # nats per target token against smoothed labels
    nats: float  # nats per target token without smoothing; its exponential is the perplexity
    source_tokens: int
    target_tokens: int
    rate: float
    norm: float  # of the gradient
    applied: bool  # false when loss or gradient were not finite: then no weight was moved


@final
@dataclass(frozen=True, kw_only=True)
class PendingUpdate:
    """An update that a device may still be at work on; its numbers lie there."""

    step: int
    source_tokens: int
    target_tokens: int
    rate: float
    found: Float[Tensor, "M 2"]  # loss and nats of each micro-batch
    norm: Float[Tensor, ""]
    skipped: Float[Tensor, ""]  # 1 when loss or gradient were not finite

    def read(self) -> Update:
        """What it did: the one time in an update that the device is waited for."""
        *found, norm, skipped = torch.cat(
            [self.found.flatten(), torch.stack([self.norm, self.skipped]).to(self.found)]
        ).tolist()
        loss = nats = 0.0
        for some_loss, some_nats in zip(found[::2], found[1::2], strict=True):
            loss, nats = loss + some_loss, nats + some_nats
        return Update(
            step=self.step,
            loss=loss / self.target_tokens,
            nats=nats / self.target_tokens,
            source_tokens=self.source_tokens,
            target_tokens=self.target_tokens,
            rate=self.rate,
            norm=norm,
            applied=not skipped,
        )
