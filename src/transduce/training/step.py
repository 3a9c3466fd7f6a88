"""One update: the gradient of all its pairs, then one step of Adam    (sections 5.1 to 5.4)"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import torch

from transduce.corpus.batch import Batch
from transduce.model.transformer import Transformer
from transduce.settings import Training
from transduce.training.loss import smoothed_loss, spread_share
from transduce.training.optimiser import Optimiser
from transduce.training.schedule import rate_of
from transduce.vocabulary import BEGIN


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


def take_update(
    model: Transformer,
    optimiser: Optimiser,
    training: Training,
    step: int,
    batches: Sequence[Batch],
    stopped: Callable[[], bool] = lambda: False,
) -> Update | None:
    """Update number `step` on its micro-batches; None, and nothing done, if it was stopped."""
    model.train()
    optimiser.clear()
    source_tokens, target_tokens = (
        sum(len(side.ids) for side in sides)
        for sides in ([b.source for b in batches], [b.target for b in batches])
    )
    loss = nats = 0.0
    for number, batch in enumerate(batches):
        if stopped():
            return None
        torch.manual_seed(dropout_seed(training.seed, step, number))
        some_loss, some_nats = batch_loss(model, training, batch)
        (some_loss / target_tokens).backward()
        loss, nats = loss + float(some_loss.detach()), nats + float(some_nats)
    norm = float(optimiser.gradients.norm())
    rate = rate_of(step, model.sizes, training)
    applied = math.isfinite(norm) and math.isfinite(loss)
    if applied:
        optimiser.update(rate)
    return Update(
        step=step,
        loss=loss / target_tokens,
        nats=nats / target_tokens,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        rate=rate,
        norm=norm,
        applied=applied,
    )


def batch_loss(
    model: Transformer, training: Training, batch: Batch
) -> tuple[torch.Tensor, torch.Tensor]:
    """Summed loss of a micro-batch, and summed nats without smoothing."""
    memory = model.encode(batch.source)
    states = model.decode(batch.target.shifted(BEGIN), memory)
    weight = model.output.weight
    spread = spread_share(training.label_smoothing, training.smoothing, len(weight))
    return smoothed_loss(states, weight, batch.target.ids, spread)


def dropout_seed(seed: int, step: int, number: int) -> int:
    """Dropout is a function of its place in the run, never of what was drawn before."""
    digest = hashlib.blake2b(f"dropout {seed} {step} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
