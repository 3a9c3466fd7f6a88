"""One update: gradients of its micro-batches, then one step of Adam    (sections 5.1 to 5.4)"""

import hashlib
from collections.abc import Sequence

import torch

from transduce.corpus.batch import Batch
from transduce.machine.device import accumulation_dtype
from transduce.paper.model import Transformer
from transduce.paper.operations import smoothing_mass
from transduce.settings import Training
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup
from transduce.training.optimiser import Optimiser
from transduce.training.schedule import scaled_learning_rate
from transduce.training.update import PendingUpdate
from transduce.vocabulary import BEGIN


def queue_update(
    model: Transformer,
    optimiser: Optimiser,
    training: Training,
    step: int,
    batches: Sequence[Batch],
    group: ProcessGroup = SINGLE_PROCESS,
) -> PendingUpdate | None:
    """Queue one update on the model's device; return None if a signal stops it.

    If a signal stops the update, no weight changes. This function does not wait for the device;
    `PendingUpdate.read` waits for the results.
    """
    model.train()
    optimiser.clear_gradients()
    source_tokens, target_tokens = (
        sum(len(side.ids) for side in sides)
        for sides in ([b.source for b in batches], [b.target for b in batches])
    )
    device = model.output.weight.device
    sums = torch.zeros(
        len(batches), 2, dtype=accumulation_dtype(device), device=device
    )  # summed loss and -log p of each micro-batch

    def accumulate(number: int) -> None:
        torch.manual_seed(dropout_seed(training.seed, step, number))
        loss, nats = batch_loss(model, training, batches[number].to(device))
        (loss / target_tokens).backward()
        sums[number, 0], sums[number, 1] = loss.detach(), nats

    costs = [len(batch.source.ids) + len(batch.target.ids) for batch in batches]
    if not group.accumulate_gradients(accumulate, costs, optimiser, sums):
        return None
    gradient_norm = optimiser.gradient_norm()
    learning_rate = scaled_learning_rate(step, model.sizes, training)
    skipped = (~torch.isfinite(gradient_norm + sums[:, 0].sum())).float()
    optimiser.update(learning_rate, skipped)
    return PendingUpdate(
        step=step,
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        learning_rate=learning_rate,
        sums=sums,
        gradient_norm=gradient_norm,
        skipped=skipped,
    )


def batch_loss(
    model: Transformer, training: Training, batch: Batch
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a micro-batch's summed loss against smoothed labels, and its summed -log p(target)."""
    weight = model.output.weight
    operations = model.operations
    padded = operations.pad_batch(batch)
    memory = model.encode(padded.source)
    states = model.decode(padded.target.shift_right(BEGIN), memory)
    mass = smoothing_mass(training.label_smoothing, training.smoothing_form, len(weight))
    return operations.smoothed_loss(states, weight, batch.target.ids, mass, model.bias_of_logits)


def dropout_seed(seed: int, step: int, number: int) -> int:
    """Return the seed of dropout for a step's micro-batch `number`, given the run's seed."""
    digest = hashlib.blake2b(f"dropout {seed} {step} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
