"""The progress of a run, which is its entire state apart from weights and Adam's moments."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from transduce.scores import Score
from transduce.training.update import Update


@final
@dataclass(frozen=True, kw_only=True)
class ValidationResult:
    """The loss and the score of the development set at one step."""

    nats: float  # -log P per target token, without smoothing; e^nats is the perplexity
    score: Score | None = None  # such as BLEU, on the set's first lines; None if not computed


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

    def after_update(self, update: Update, seconds: float) -> "Progress":
        """Return the progress after one more update that took this many seconds."""
        return replace(
            self,
            step=update.step,
            source_tokens=self.source_tokens + update.source_tokens,
            target_tokens=self.target_tokens + update.target_tokens,
            seconds=self.seconds + seconds,
            skipped=self.skipped + (not update.applied),
            nonfinite_in_a_row=0 if update.applied else self.nonfinite_in_a_row + 1,
        )

    def after_validation(self, result: ValidationResult) -> "Progress":
        """Return the progress after a validation, with its best loss or patience count updated."""
        validated = replace(self, validated_step=self.step)
        if not self.best_nats or result.nats < self.best_nats:
            return replace(validated, best_nats=result.nats, validations_without_improvement=0)
        return replace(
            validated, validations_without_improvement=self.validations_without_improvement + 1
        )

    def as_json(self) -> dict[str, Any]:
        """Return the counters as a dictionary for state.json."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Progress":
        """Return the progress stored in state.json: the inverse of `as_json`."""
        return Progress(**values)
