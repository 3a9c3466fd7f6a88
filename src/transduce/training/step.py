"""One update: the gradient of all its pairs, then one step of Adam    (sections 5.1 to 5.4)"""

import hashlib
from collections.abc import Sequence

import torch

from transduce.corpus.batch import Batch
from transduce.machine.device import accumulation_dtype
from transduce.model.transformer import Transformer
from transduce.settings import Training
from transduce.settings.training import EVEN
from transduce.training.compiling import compiled_softened
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup
from transduce.training.loss import smoothed_loss, softened, spread_share
from transduce.training.optimiser import Optimiser
from transduce.training.schedule import rate_of
from transduce.training.update import PendingUpdate, Update
from transduce.vocabulary import BEGIN


def take_update(
    model: Transformer,
    optimiser: Optimiser,
    training: Training,
    step: int,
    batches: Sequence[Batch],
    company: ProcessGroup = SINGLE_PROCESS,
) -> Update | None:
    """Update number `step` on its micro-batches; None, and nothing done, if it was stopped."""
    queued = queue_update(model, optimiser, training, step, batches, company)
    return queued.read() if queued else None


def queue_update(
    model: Transformer,
    optimiser: Optimiser,
    training: Training,
    step: int,
    batches: Sequence[Batch],
    company: ProcessGroup = SINGLE_PROCESS,
) -> PendingUpdate | None:
    """The same; what it did can be read later, and a GPU may still be at work on it."""
    model.train()
    optimiser.clear()
    source_tokens, target_tokens = (
        sum(len(side.ids) for side in sides)
        for sides in ([b.source for b in batches], [b.target for b in batches])
    )
    place = model.output.weight.device
    found = torch.zeros(
        len(batches), 2, dtype=accumulation_dtype(place), device=place
    )  # loss, nats of each

    def learn(number: int) -> None:
        torch.manual_seed(dropout_seed(training.seed, step, number))
        some_loss, some_nats = batch_loss(model, training, batches[number].to(place))
        (some_loss / target_tokens).backward()
        found[number, 0], found[number, 1] = some_loss.detach(), some_nats

    costs = [len(batch.source.ids) + len(batch.target.ids) for batch in batches]
    if not company.learn(learn, costs, optimiser, found):
        return None
    norm, rate = optimiser.gradients.norm(), rate_of(step, model.sizes, training)
    skipped = (~torch.isfinite(norm + found[:, 0].sum())).float()
    optimiser.update(rate, skipped)
    return PendingUpdate(
        step=step,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        rate=rate,
        found=found,
        norm=norm,
        skipped=skipped,
    )


def batch_loss(
    model: Transformer, training: Training, batch: Batch
) -> tuple[torch.Tensor, torch.Tensor]:
    """Summed loss of a micro-batch, and summed nats without smoothing."""
    weight = model.output.weight
    full = batch.pad_to_multiple(
        training.pad_to_tokens or (EVEN if training.precision == "bfloat16" else 1)
    )
    memory = model.encode(full.source)
    states = model.decode(full.target.shift_right(BEGIN), memory)
    spread = spread_share(training.label_smoothing, training.smoothing_form, len(weight))
    soften = compiled_softened() if training.compile else softened
    return smoothed_loss(states, weight, batch.target.ids, spread, soften)


def dropout_seed(seed: int, step: int, number: int) -> int:
    """Dropout is a function of its place in the run, never of what was drawn before."""
    digest = hashlib.blake2b(f"dropout {seed} {step} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
