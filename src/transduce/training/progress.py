"""How far a run is: all that changes between updates besides weights and moments."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from transduce.scores import Score
from transduce.training.update import Update


@final
@dataclass(frozen=True, kw_only=True)
class ValidationResult:
    """How good the model was on the development set at some step."""

    nats: float  # per target piece, without smoothing; its exponential is the perplexity
    score: Score | None = None  # the task's, of the first lines


@final
@dataclass(frozen=True, kw_only=True)
class Progress:
    """Counted from the first update, across every restart."""

    step: int = 0
    source_tokens: int = 0
    target_tokens: int = 0
    seconds: float = 0.0
    skipped: int = 0  # updates that were not finite and moved no weight
    bad_in_a_row: int = 0
    best_nats: float = 0.0  # of the looks so far; 0 before the first
    validations_without_improvement: int = 0
    validated_step: int = 0  # when the last look was taken to its end

    def after(self, update: Update, seconds: float) -> "Progress":
        """One update further."""
        return replace(
            self,
            step=update.step,
            source_tokens=self.source_tokens + update.source_tokens,
            target_tokens=self.target_tokens + update.target_tokens,
            seconds=self.seconds + seconds,
            skipped=self.skipped + (not update.applied),
            bad_in_a_row=0 if update.applied else self.bad_in_a_row + 1,
        )

    def after_validation(self, look: ValidationResult) -> "Progress":
        """After a look at the development set."""
        looked = replace(self, validated_step=self.step)
        if not self.best_nats or look.nats < self.best_nats:
            return replace(looked, best_nats=look.nats, validations_without_improvement=0)
        return replace(
            looked, validations_without_improvement=self.validations_without_improvement + 1
        )

    def as_json(self) -> dict[str, Any]:
        """For state.json."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Progress":
        """From state.json."""
        return Progress(**values)
