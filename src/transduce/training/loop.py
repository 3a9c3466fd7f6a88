"""Training, from wherever it stands to the recipe's last step; can be killed at any moment."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.checkpoint import has_snapshot, prune, save, save_snapshot
from transduce.corpus.batch import Batch
from transduce.errors import FolderError, NotFiniteError, SaveError
from transduce.machine.environment import describe_environment
from transduce.model.transformer import Transformer
from transduce.settings import Training
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup
from transduce.training.journal import LOG, Journal
from transduce.training.optimiser import Optimiser
from transduce.training.progress import Progress, ValidationResult
from transduce.training.step import queue_update
from transduce.training.update import Update

Keep = Callable[[Progress, Update | None], Progress]  # what follows an update
FIRST_SAVE = 1.0  # minutes after a start: early enough to be seen, and to find a full disk
FAILED_SAVES = 3  # so many in a row end the run; one alone may be a full disk that is cleared


@final
@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What is trained, on what, and where it is kept."""

    folder: Path
    model: Transformer
    optimiser: Optimiser
    training: Training
    batches: Callable[[int], Sequence[Batch]]  # the micro-batches of an update, steps from 1
    look: Callable[[Transformer], ValidationResult | None] | None = (
        None  # at the dev set; None if stopped
    )


def nothing(*_: object) -> None:
    """Nobody listens."""


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCallbacks:
    """Who is told what happens."""

    told: Callable[[Update, Progress], None] = nothing  # after every update
    looked: Callable[[ValidationResult, Progress], None] = nothing
    said: Callable[[str], None] = nothing  # a sentence for people


def train(
    job: TrainingJob,
    progress: Progress,
    audience: TrainingCallbacks,
    company: ProcessGroup = SINGLE_PROCESS,
) -> Progress:
    """Train from wherever the run stands; at its end, or asked to stop, keep the last update."""
    if company.rank > 0:  # the first process does the keeping
        return company.on_rank_0(same, updated(job, progress, company, same), None)
    with closing(Journal(job.folder / LOG)) as journal:
        keeper = CheckpointKeeper(job, audience, journal, company, progress.step)
        progress = updated(job, progress, company, keeper.keep)
        return company.on_rank_0(keeper.finish, progress)


def updated(job: TrainingJob, progress: Progress, company: ProcessGroup, keep: Keep) -> Progress:
    """Update and keep, until the last step or until stopped."""
    training = job.training
    progress = company.on_rank_0(keep, progress, None)  # what a stop or a full disk left out
    following: Sequence[Batch] | None = None
    while not ended(progress, training):
        began, step = time.monotonic(), progress.step + 1
        batches = following or job.batches(step)
        queued = queue_update(job.model, job.optimiser, training, step, batches, company)
        if queued is None:
            break
        following = read_ahead(job, step + 1)  # while a GPU is at work on this one
        update = queued.read()
        progress = progress.after(update, time.monotonic() - began)
        progress = company.on_rank_0(keep, progress, update)
        require_finite(progress, training)
    return progress


def read_ahead(job: TrainingJob, step: int) -> Sequence[Batch] | None:
    """The micro-batches of the next update, where reading them costs no time but the host's."""
    on_gpu = job.optimiser.weights.device.type == "cuda"
    return job.batches(step) if on_gpu and step <= job.training.steps else None


def same(progress: Progress, _update: Update | None) -> Progress:
    """Nothing is kept here."""
    return progress


def ended(progress: Progress, training: Training) -> bool:
    """Whether nothing is left to do: all steps are taken, or patience is at its end."""
    patience = training.patience and progress.validations_without_improvement >= training.patience
    return bool(patience) or progress.step >= training.steps


def require_finite(progress: Progress, training: Training) -> None:
    """End a run that has left the finite world; its last save has not."""
    if is_lost(progress, training):
        raise NotFiniteError(
            f"{progress.bad_in_a_row} updates in a row were not finite, the last at step "
            f"{progress.step}",
            "its last save is sound; a new run with a lower training.learning_rate_factor may do better",
        )


def is_lost(progress: Progress, training: Training) -> bool:
    """Whether too many updates in a row were not finite."""
    return progress.bad_in_a_row >= training.max_nonfinite_updates


def minutes_from_now(minutes: float) -> float:
    """A time of the clock that nobody sets."""
    return time.monotonic() + 60 * minutes


@final
class CheckpointKeeper:
    """Looks, snapshots by steps, saves by minutes, and the journal of all of it."""

    def __init__(
        self,
        job: TrainingJob,
        audience: TrainingCallbacks,
        journal: Journal,
        company: ProcessGroup,
        step: int,
    ) -> None:
        self.job, self.audience, self.journal = job, audience, journal
        self.company = company
        # asked once: the files that name the versions may be gone before the run is over
        self.environment = describe_environment(
            job.model.output.weight.device, adds=company.adds, processes=company.size
        )
        self.saved_step = step
        self.next_save = minutes_from_now(min(FIRST_SAVE, job.training.checkpoint_minutes))
        self.failures = {"snapshot": 0, "save": 0}  # in a row

    def keep(self, progress: Progress, update: Update | None) -> Progress:
        """What follows an update: tell it, look, keep; the progress with what was seen."""
        if update is not None:
            self.journal_update(update, progress)
            self.audience.told(update, progress)
        if is_lost(progress, self.job.training):
            return progress
        progress = self.look_if_due(progress)
        self.snapshot_if_due(progress)
        if update is not None:
            self.save_if_due(progress)
        return progress

    def journal_update(self, update: Update, progress: Progress) -> None:
        """One line an update."""
        self.journal.write(
            "update",
            step=update.step,
            loss=update.loss,
            nats=update.nats,
            norm=update.norm,
            rate=update.rate,
            source_tokens=update.source_tokens,
            target_tokens=update.target_tokens,
            seconds=round(progress.seconds, 3),
            applied=update.applied,
        )

    def look_if_due(self, progress: Progress) -> Progress:
        """Look at the development set every so many steps, and after the last."""
        job, training, step = self.job, self.job.training, progress.step
        due = step % training.validate_every == 0 or step == training.steps
        if job.look is None or not due or progress.validated_step == step:
            return progress
        look = job.look(job.model)
        if look is None:
            return progress
        progress = progress.after_validation(look)
        self.journal.write("validation", step=step, **dataclasses.asdict(look))
        self.audience.looked(look, progress)
        return progress

    def snapshot_if_due(self, progress: Progress) -> None:
        """On the paper's clock, and at the last step."""
        step, training = progress.step, self.job.training
        due = step > 0 and (step % training.snapshot_every == 0 or ended(progress, training))
        if due and not has_snapshot(self.job.folder, step):
            self.attempt("snapshot", progress)

    def save_if_due(self, progress: Progress) -> None:
        """On the wall's clock, and whenever somebody asks for it."""
        asked, self.company.requests.save = self.company.requests.save, False
        if asked or time.monotonic() >= self.next_save:
            self.attempt("save", progress)

    def finish(self, progress: Progress) -> Progress:
        """Keep the last update, and say what there is to say."""
        if progress.step > self.saved_step:
            self.attempt("save", progress)
        if failed := [kind for kind, times in self.failures.items() if times]:
            raise SaveError(
                f"the last {failed[0]} could not be written, and training has ended",
                f"free some space; the same command goes on from step {self.saved_step}",
                file=self.job.folder,
            )
        if ended(progress, self.job.training):
            self.journal.write("finish", step=progress.step)
        return progress

    def attempt(self, kind: str, progress: Progress) -> None:
        """Keep what is there; a disk that refuses does not stop the training at once."""
        try:
            self.write(kind, progress)
        except (SaveError, FolderError) as fault:
            self.failures[kind] += 1
            if kind == "save":
                self.next_save = minutes_from_now(self.job.training.checkpoint_minutes)
            self.journal.write("failure", step=progress.step, fact=fault.fact)
            self.audience.said(f"could not keep step {progress.step}: {fault.fact}")
            if self.failures[kind] >= FAILED_SAVES:
                raise
        else:
            self.failures[kind] = 0
            self.journal.write(kind, step=progress.step)

    def write(self, kind: str, progress: Progress) -> None:
        """Write, then delete what is no longer needed."""
        folder, optimiser = self.job.folder, self.job.optimiser
        if kind == "snapshot":
            save_snapshot(folder, progress.step, optimiser.named_weights)
        else:
            state = {"progress": progress.as_json(), "environment": self.environment}
            save(folder, progress.step, optimiser.named_weights, optimiser.moments, state)
            self.saved_step = progress.step
            self.next_save = minutes_from_now(self.job.training.checkpoint_minutes)
        for fact in prune(folder, self.job.training.average_last):
            self.audience.said(fact)
