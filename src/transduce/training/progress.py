"""The progress of a run (all of its state but the tensors), and callbacks that get the progress

The progress includes the cost of training, estimated as in section 6.1 and counted by formula.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from transduce.durable.folder import AGAIN
from transduce.durable.json import parse_record
from transduce.errors import FolderError, short_repr
from transduce.paper.training import Update
from transduce.scores.score import Score
from transduce.settings.fields import require
from transduce.text.arguments import ignore_event


@final
@dataclass(frozen=True, kw_only=True)
class ValidationResult:
    """The loss and the score of the development set at one step."""

    nats: float  # -log p per target token, without smoothing; e^nats is the perplexity
    score: Score | None = None  # such as BLEU, on the set's first lines; None if not computed


@final
@dataclass(frozen=True, kw_only=True)
class Validation:
    """A finished validation as checkpoints and snapshots store it: step, loss and score."""

    step: int
    nats: float  # -log p per target token, without smoothing
    score: Score | None = None  # without its details

    @property
    def rank(self) -> tuple[float, float]:
        """The sort key of a run's validations: better scores first, then lower losses."""
        sign = -1 if self.score is None or self.score.higher_is_better else 1
        return sign * (self.score.value if self.score else 0.0), self.nats


@final
@dataclass(frozen=True)
class MachineRecord:
    """The devices of a run: name, count, measured speed, and operations per target piece."""

    device: str
    devices: int
    rate: float  # operations per second of one device, measured
    per_piece: float  # training operations per target piece of this corpus, by formula


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCost:
    """The cost of a run's training: devices, seconds, and estimated and counted operations."""

    device: str  # the last device that the run used
    devices: int
    rate: float  # operations per second of each device, measured
    seconds: float
    estimated: float  # training operations, as the paper estimates them: time x devices x rate
    counted: float  # training operations by formula: matrix products, forward and backward


def add_update_cost(
    cost: TrainingCost | None, machine: MachineRecord, target_tokens: int, seconds: float
) -> TrainingCost:
    """Return the cost of a run after one more update on these devices; None means no cost yet."""
    before = (cost.seconds, cost.estimated, cost.counted) if cost else (0.0, 0.0, 0.0)
    return TrainingCost(
        device=machine.device,
        devices=machine.devices,
        rate=machine.rate,
        seconds=before[0] + seconds,
        estimated=before[1] + seconds * machine.devices * machine.rate,
        counted=before[2] + target_tokens * machine.per_piece,
    )


@final
@dataclass(frozen=True, kw_only=True)
class Progress:
    """The counters of a run since its first update, which continue when the run is resumed."""

    step: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    skipped: int = 0  # updates that were not finite and changed no weight
    nonfinite_in_a_row: int = 0
    best_nats: float = 0.0  # the lowest nats of all validations; 0 before the first
    validations_without_improvement: int = 0
    validated_step: int = 0  # step of the last finished validation
    last_validation: Validation | None = None
    best_validation: Validation | None = None  # with the best score, then the lowest loss
    cost: TrainingCost | None = None  # None if the machine's speed was not measured

    def after_update(
        self, update: Update, seconds: float, machine: MachineRecord | None = None
    ) -> "Progress":
        """Return the progress after one more update, which took `seconds` on a machine."""
        tokens = update.target_tokens
        cost = add_update_cost(self.cost, machine, tokens, seconds) if machine else self.cost
        return replace(
            self,
            step=update.step,
            source_tokens=self.source_tokens + update.source_tokens,
            target_tokens=self.target_tokens + update.target_tokens,
            seconds=self.seconds + seconds,
            skipped=self.skipped + (not update.applied),
            nonfinite_in_a_row=0 if update.applied else self.nonfinite_in_a_row + 1,
            cost=cost,
        )

    def after_validation(self, result: ValidationResult, *, counts: bool = True) -> "Progress":
        """Return the progress after a validation, with best values and patience count updated.

        If `counts` is False, best_nats and the patience count stay as they are.
        """
        validated = replace(self, validated_step=self.step)
        if math.isfinite(result.nats):  # state.json cannot hold NaN or infinity
            score = result.score and replace(result.score, details={})
            last = Validation(step=self.step, nats=result.nats, score=score)
            best = min((self.best_validation or last, last), key=lambda one: one.rank)
            validated = replace(validated, last_validation=last, best_validation=best)
            if counts and (not self.best_nats or result.nats < self.best_nats):
                return replace(validated, best_nats=result.nats, validations_without_improvement=0)
        return replace(
            validated,
            validations_without_improvement=self.validations_without_improvement + counts,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the counters as a dictionary for state.json."""
        return dataclasses.asdict(self)


def read_progress(state: Mapping[str, Any], step: int, file: Path) -> Progress:
    """Return the progress in a state.json; FolderError if it is invalid or of another step."""
    try:
        progress = parse_record(Progress, state.get("progress"))
    except ValueError as fault:
        raise FolderError(f"holds no progress of a run: {fault}", AGAIN, file=file) from fault
    last, best = progress.last_validation, progress.best_validation
    steps = [progress.validated_step, *(one.step for one in (last, best) if one)]
    if progress.step != step or max(steps) > step:
        fact = f"says step {max(progress.step, *steps):,}, and its folder is of step {step:,}"
        raise FolderError(fact, AGAIN, file=file)
    return progress


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCallbacks:
    """Optional functions to call after updates, validations and checkpoints, and with messages.

    Training waits until a callback returns. With several processes only rank 0 calls them. An
    exception in a callback ends the training, which can be resumed from its last checkpoint.

        losses = []
        transduce.TrainingCallbacks(on_update=lambda update, progress: losses.append(update.loss))
    """

    # called after every update, also if the update was skipped (`update.applied` is false)
    on_update: Callable[[Update, Progress], None] = ignore_event
    # called after every validation, with the progress including the result
    on_validation: Callable[[ValidationResult, Progress], None] = ignore_event
    # called after a checkpoint was written, with its step
    on_checkpoint: Callable[[int], None] = ignore_event
    # called with a sentence to show, such as where a run resumes
    on_message: Callable[[str], None] = ignore_event
    # called with a warning, such as of a failed checkpoint; without it `on_message` is called
    on_warning: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        for name, call in vars(self).items():
            is_function = callable(call) or (call is None and name == "on_warning")
            require(is_function, f"{name} must be a function, not {short_repr(call)}")

    def warn(self, sentence: str) -> None:
        """Call `on_warning` with a sentence, or `on_message` if `on_warning` is None."""
        (self.on_warning or self.on_message)(sentence)
