"""What one update did."""

from dataclasses import dataclass
from typing import final


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
