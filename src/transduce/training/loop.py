"""The training loop: updates, validation, early stopping, snapshots and checkpoints."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.checkpoint.checkpoints import prune, save_checkpoint, save_snapshot
from transduce.checkpoint.steps import CHECKPOINTS, SNAPSHOTS, is_intact, list_steps
from transduce.checkpoint.weights import TRAIN_ANEW
from transduce.errors import FolderError, NotFiniteError, SaveError
from transduce.machine.process_settings import release_freed_memory
from transduce.packed import Batch
from transduce.paper import training as paper
from transduce.paper.model import Transformer
from transduce.paper.training import AddGradients, Optimiser, PendingUpdate, Update, add_gradients
from transduce.settings import Training
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup
from transduce.training.equip import describe_training_environment
from transduce.training.journal import LOG, Journal
from transduce.training.progress import MachineRecord, Progress, TrainingCallbacks, ValidationResult

# called after an update; validates and writes checkpoints if due, and returns the progress
AfterUpdate = Callable[[Progress, Update | None], Progress]
FIRST_CHECKPOINT_MINUTES = 1.0  # so early that an unwritable disk is noticed soon
MAX_FAILED_WRITES = 3  # snapshots or checkpoints that fail in a row before the run ends
# Freed memory between live tensors adds up; returning it to the system takes some 50 ms.
STEPS_BETWEEN_RELEASES = 100


@final
@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """All parts of a training: model, optimiser, settings, batches, validation, run folder."""

    folder: Path
    model: Transformer
    optimiser: Optimiser
    training: Training
    batches: Callable[[int], Sequence[Batch]]  # returns the micro-batches of a step, from 1
    add_gradients: AddGradients = add_gradients  # of one micro-batch
    read: Callable[[PendingUpdate], Update] = PendingUpdate.read  # waits for an update's results
    # scores the development set, or returns None if a signal interrupts it
    validate: Callable[[Transformer], ValidationResult | None] | None = None
    machine: MachineRecord | None = None  # the devices, to compute the cost; only on rank 0


def train(
    job: TrainingJob,
    progress: Progress,
    callbacks: TrainingCallbacks,
    group: ProcessGroup = SINGLE_PROCESS,
) -> Progress:
    """Train until the last step, early stopping or a signal; then checkpoint; return the progress.

    Every process of the group calls this; only rank 0 validates and writes to the run folder.
    """
    if group.rank > 0:
        progress = run_updates(job, progress, group, return_unchanged)
        return group.run_on_rank_0(return_unchanged, progress, None)
    with closing(Journal(job.folder / LOG)) as journal:
        manager = CheckpointManager(job, callbacks, journal, group, progress)
        progress = run_updates(job, progress, group, manager.after_update)
        return group.run_on_rank_0(manager.finish, progress)


def run_updates(
    job: TrainingJob, progress: Progress, group: ProcessGroup, after_update: AfterUpdate
) -> Progress:
    """Run updates until training ends; call `after_update` on rank 0 after each; return progress.

    Training ends at the last step, by early stopping or at a signal. `after_update` is also called
    before the first update, with None. Raise NotFiniteError if the run has diverged.
    """
    training = job.training
    # before a resumed run goes on, finish what a stop interrupted, such as a validation
    progress = group.run_on_rank_0(after_update, progress, None)
    if is_finished(progress, training):
        return progress
    began = time.monotonic()

    def count_update(update: Update) -> bool:
        nonlocal progress, began
        progress = progress.after_update(update, time.monotonic() - began, job.machine)
        progress = group.run_on_rank_0(after_update, progress, update)
        require_finite_updates(progress, training, job.folder)
        began = time.monotonic()
        return not is_finished(progress, training)

    paper.train(
        job.model,
        job.optimiser,
        training,
        job.batches,
        done=progress.step,
        run_micro_batches=group.run_micro_batches,
        add_gradients=job.add_gradients,
        read_update=job.read,
        after_update=count_update,
    )
    return progress


def return_unchanged(progress: Progress, _update: Update | None) -> Progress:
    """Return the progress unchanged, as the `after_update` of ranks other than 0."""
    return progress


def is_finished(progress: Progress, training: Training) -> bool:
    """Return whether all steps are trained or early stopping has ended the run."""
    stops = training.patience and progress.validations_without_improvement >= training.patience
    return bool(stops) or progress.step >= training.steps


def require_finite_updates(progress: Progress, training: Training, folder: Path) -> None:
    """Raise NotFiniteError when too many updates in a row had a loss or gradient of NaN or inf."""
    if has_diverged(progress, training):
        raise NotFiniteError(
            f"{progress.nonfinite_in_a_row} updates in a row were not finite, the last at step "
            f"{progress.step}",
            ("its last checkpoint is sound; " if list_steps(folder / CHECKPOINTS) else "")
            + TRAIN_ANEW,
        )


def has_diverged(progress: Progress, training: Training) -> bool:
    """Return whether the last `max_nonfinite_updates` updates were not finite.

    In a run with fewer steps, return whether all updates were not finite.
    """
    limit = min(training.max_nonfinite_updates, training.steps)
    return progress.nonfinite_in_a_row >= limit


def deadline_after(minutes: float) -> float:
    """Return the value that the monotonic clock will have `minutes` from now, in seconds."""
    return time.monotonic() + 60 * minutes


def folder_identity(folder: Path) -> tuple[int, int] | None:
    """Return the device and inode of a folder, which renaming keeps; None if it is missing."""
    try:
        found = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


@final
class CheckpointManager:
    """Rank 0's work after each update: journal, validation, snapshots and checkpoints."""

    def __init__(
        self,
        job: TrainingJob,
        callbacks: TrainingCallbacks,
        journal: Journal,
        group: ProcessGroup,
        start: Progress,
    ) -> None:
        self.job, self.callbacks, self.journal = job, callbacks, journal
        self.group = group
        # read now, because files with package versions may be deleted before the run ends
        self.environment = describe_training_environment(group)
        self.checkpointed_step, self.checkpointed_validation = start.step, start.validated_step
        self.next_checkpoint = deadline_after(
            min(FIRST_CHECKPOINT_MINUTES, job.training.checkpoint_minutes)
        )
        self.failures = {"snapshot": 0, "checkpoint": 0}  # failed writes in a row
        self.identity = folder_identity(job.folder)
        self.told = set[str]()  # facts on old steps that stay, each told once

    def after_update(self, progress: Progress, update: Update | None) -> Progress:
        """Log `update`, unless None; validate, snapshot and checkpoint if due; return the progress.

        `update` is None in the first call, which finishes what a stop interrupted. Raises SaveError
        if the run folder was moved or deleted.
        """
        if folder_identity(self.job.folder) != self.identity:
            raise SaveError(
                "was moved or deleted while it was trained",
                f"put it back: the same command resumes from step {self.checkpointed_step}",
                file=self.job.folder,
            )
        if update is not None:
            self.log_update(update, progress)
            if update.step % STEPS_BETWEEN_RELEASES == 0:
                release_freed_memory()
            self.callbacks.on_update(update, progress)
        if has_diverged(progress, self.job.training):
            return progress
        progress = self.validate_if_due(progress)
        self.snapshot_if_due(progress)
        requests = self.group.requests
        if update is not None and (requests.checkpoint or time.monotonic() >= self.next_checkpoint):
            requests.checkpoint = False
            self.try_to_write("checkpoint", progress)
        return progress

    def log_update(self, update: Update, progress: Progress) -> None:
        """Append an update's loss, counts and the seconds so far to the journal."""
        self.journal.write(
            "update",
            step=update.step,
            loss=update.loss,
            nats=update.nats,
            gradient_norm=update.gradient_norm,
            learning_rate=update.learning_rate,
            source_tokens=update.source_tokens,
            target_tokens=update.target_tokens,
            seconds=round(progress.seconds, 3),
            applied=update.applied,
        )

    def validate_if_due(self, progress: Progress) -> Progress:
        """Validate if that is due at this step; return the progress, with any result included."""
        job = self.job
        if job.validate is None or not self.must_validate(progress):
            return progress
        result = job.validate(job.model)
        if result is None:
            return progress
        # one that is due only as the last step's does not count, since the run may get more updates
        is_regular = progress.step % job.training.validate_every == 0
        progress = progress.after_validation(result, counts=is_regular)
        self.journal.write("validation", step=progress.step, **dataclasses.asdict(result))
        self.callbacks.on_validation(result, progress)
        return progress

    def must_validate(self, progress: Progress) -> bool:
        """Return whether a validation is due at this step and was not finished yet."""
        step, training = progress.step, self.job.training
        due = step % training.validate_every == 0 or step == training.steps
        return self.job.validate is not None and due and progress.validated_step != step

    def snapshot_if_due(self, progress: Progress) -> None:
        """Write a snapshot if one is due and not there intact, and no validation is due first.

        A snapshot is due at the last step and at multiples of `training.snapshot_every`. It stores
        the last validation, so a validation that is due at the same step comes first.
        """
        step, training = progress.step, self.job.training
        due = step > 0 and (step % training.snapshot_every == 0 or is_finished(progress, training))
        waits = self.must_validate(progress)
        if due and not waits and not is_intact(self.job.folder / SNAPSHOTS, step):
            self.try_to_write("snapshot", progress)

    def finish(self, progress: Progress) -> Progress:
        """Write the last checkpoint; raise SaveError if it or the last snapshot was not written."""
        is_validated_since = progress.validated_step > self.checkpointed_validation
        if progress.step > self.checkpointed_step or (is_validated_since and self.has_older()):
            self.try_to_write("checkpoint", progress)
        if failed := [kind for kind, times in self.failures.items() if times]:
            raise SaveError(
                f"the last {failed[0]} could not be written, and training has ended",
                f"a warning says why; the same command resumes from step {self.checkpointed_step}",
                file=self.job.folder,
            )
        if is_finished(progress, self.job.training) and not self.must_validate(progress):
            self.journal.write("finish", step=progress.step)
            if progress.nonfinite_in_a_row:
                self.callbacks.warn(
                    "the run ends with updates that were not finite, "
                    f"{progress.nonfinite_in_a_row} in a row: it may have diverged; "
                    "a lower training.learning_rate_factor may help"
                )
        return progress

    def has_older(self) -> bool:
        """Return whether the run has two checkpoints, so that the newest one may be replaced.

        A kill between the two renames of a replacement would lose the only one.
        """
        with suppress(FolderError):
            return len(list_steps(self.job.folder / CHECKPOINTS)) > 1
        return False

    def try_to_write(self, kind: str, progress: Progress) -> None:
        """Write a snapshot or checkpoint; log a failure, and raise the third failure in a row."""
        try:
            self.write(kind, progress)
        except (SaveError, FolderError) as fault:
            self.failures[kind] += 1
            if kind == "checkpoint":
                self.next_checkpoint = deadline_after(self.job.training.checkpoint_minutes)
            self.journal.write("failure", step=progress.step, fact=fault.fact)
            self.callbacks.warn(
                f"the {kind} of step {progress.step} could not be written: {fault.fact}"
            )
            if self.failures[kind] >= MAX_FAILED_WRITES:
                raise
        else:
            self.failures[kind] = 0
            self.journal.write(kind, step=progress.step)
            if kind == "checkpoint":
                self.callbacks.on_checkpoint(progress.step)

    def write(self, kind: str, progress: Progress) -> None:
        """Write a snapshot (weights) or checkpoint (weights and moments), then delete old ones."""
        folder, optimiser = self.job.folder, self.job.optimiser
        state = {"progress": progress.as_json(), "environment": self.environment}
        if kind == "snapshot":
            save_snapshot(folder, progress.step, optimiser.named_weights, state)
        else:
            save_checkpoint(
                folder,
                progress.step,
                optimiser.named_weights,
                optimiser.moments,
                state,
                replaces=progress.step == self.checkpointed_step,
            )
            self.checkpointed_step = progress.step
            self.checkpointed_validation = progress.validated_step
            self.next_checkpoint = deadline_after(self.job.training.checkpoint_minutes)
        training = self.job.training
        for fact in prune(folder, training.average_last, training.snapshot_every):
            if fact not in self.told:
                self.callbacks.warn(fact)
            self.told.add(fact)
