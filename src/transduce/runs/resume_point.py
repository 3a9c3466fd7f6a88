"""The state that a run begins or resumes from: its newest intact checkpoint, loaded for training"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.checkpoint.checkpoints import MOMENTS, STATE, Checkpoint, load_newest_checkpoint
from transduce.checkpoint.weights import require_matching_tensors
from transduce.durable.folder import AGAIN
from transduce.errors import FolderError
from transduce.machine.device import select_device
from transduce.machine.environment import (
    describe_environment,
    environment_changes,
    read_environment,
)
from transduce.paper.training import UPDATES
from transduce.training.distributed.process_group import ProcessGroup
from transduce.training.journal import LOG, Journal
from transduce.training.loop import TrainingJob
from transduce.training.progress import Progress, read_progress


@final
@dataclass(frozen=True)
class RunStart:
    """The facts at a run's start: progress, parameters, bad checkpoints and machine changes."""

    progress: Progress
    parameters: int  # number of the model's parameters
    rejected: list[tuple[Path, str]]  # damaged checkpoints, each with the reason for rejecting it
    changed: list[str]  # changes of the machine that may alter the results' last bits


def load_resume_point(
    job: TrainingJob, on_start: Callable[[RunStart], None], group: ProcessGroup
) -> Progress:
    """Load the newest undamaged checkpoint, if any, into model and optimiser; return its progress.

    The facts at the run's start are reported to `on_start`.
    """
    model, optimiser = job.model, job.optimiser
    checkpoint, rejected = load_newest_checkpoint(job.folder)
    progress, changed = Progress(), list[str]()
    if checkpoint is not None:
        expected = {name: tuple(weight.shape) for name, weight in model.named_weights().items()}
        moments = {name: tuple(moment.shape) for name, moment in optimiser.moments.items()}
        optimiser.restore(
            require_matching_tensors(checkpoint.weights, expected, file=checkpoint.folder),
            require_matching_tensors(checkpoint.moments, moments, file=checkpoint.folder),
        )
        file = checkpoint.folder / STATE
        progress = read_progress(checkpoint.state, checkpoint.step, file)
        require_adam_state(checkpoint)
        if checkpoint.step:
            here = describe_environment(
                select_device(), reduction=group.reduction, processes=group.world_size
            )
            changed = environment_changes(read_environment(checkpoint.state, file), here)
    parameters = sum(weight.numel() for weight in optimiser.named_weights.values())
    on_start(RunStart(progress, parameters, rejected, changed))
    if (job.folder / LOG).exists():  # a resume event marks logged events of later steps as lost
        with closing(Journal(job.folder / LOG)) as journal:
            journal.write("resume", step=progress.step, changed=changed)
    return progress


def require_adam_state(checkpoint: Checkpoint) -> None:
    """Raise FolderError if Adam counts more updates than steps, or a mean of squares is below 0."""
    updates = checkpoint.moments[UPDATES].item()
    if updates not in range(checkpoint.step + 1):
        fact = f"counts {updates:g} updates, and its folder is of step {checkpoint.step:,}"
        raise FolderError(fact, AGAIN, file=checkpoint.folder / MOMENTS)
    for name, moment in checkpoint.moments.items():
        if name.startswith("exp_avg_sq.") and bool((moment < 0).any()):
            fact = f"{name} is a mean of squares, and below 0"
            raise FolderError(fact, AGAIN, file=checkpoint.folder / MOMENTS)
