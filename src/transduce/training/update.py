"""The results of a finished update, and of an update that a device may still be computing."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

# M: micro-batches of the update


@final
@dataclass(frozen=True)
class Update:
    """The loss, token counts, learning rate and gradient norm of one finished update."""

    step: int
    loss: float  # nats per target token against smoothed labels
    nats: float  # -log P per target token, without smoothing; e^nats is the perplexity
    source_tokens: int
    target_tokens: int
    learning_rate: float
    gradient_norm: float
    applied: bool  # false when loss or gradient were not finite: then no weight was changed


@final
@dataclass(frozen=True, kw_only=True)
class PendingUpdate:
    """An update that is queued on a device; its results are tensors on that device."""

    step: int
    source_tokens: int
    target_tokens: int
    learning_rate: float
    sums: Float[Tensor, "M 2"]  # summed loss and -log P of each micro-batch
    gradient_norm: Float[Tensor, ""]
    skipped: Float[Tensor, ""]  # 1 when loss or gradient were not finite

    def read(self) -> Update:
        """Wait for the device and return the update's results as Python numbers."""
        *sums, gradient_norm, skipped = torch.cat(
            [self.sums.flatten(), torch.stack([self.gradient_norm, self.skipped]).to(self.sums)]
        ).tolist()
        loss = nats = 0.0
        for some_loss, some_nats in zip(sums[::2], sums[1::2], strict=True):
            loss, nats = loss + some_loss, nats + some_nats
        return Update(
            step=self.step,
            loss=loss / self.target_tokens,
            nats=nats / self.target_tokens,
            source_tokens=self.source_tokens,
            target_tokens=self.target_tokens,
            learning_rate=self.learning_rate,
            gradient_norm=gradient_norm,
            applied=not skipped,
        )
