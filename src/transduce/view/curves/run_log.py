"""The value `RunLog`: a run's log as columns of updates, with validations and other events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import final

import numpy as np
from jaxtyping import Bool, Float64

from transduce.view.curves.update_lines import FIELDS, UpdateFields, parse_numbers

MAX_STEP = 2**53  # larger integers are no longer exact as float64
LARGEST = 1e300  # no log is long enough for a sum of such numbers to be infinite
MARKS = ("resume", "snapshot", "checkpoint", "failure", "finish")


@final
@dataclass(frozen=True)
class Updates:
    """The N updates of a run as columns; NaN where the log has no finite number."""

    step: Float64[np.ndarray, " N"]
    nats: Float64[np.ndarray, " N"]  # loss per target token, without label smoothing
    gradient_norm: Float64[np.ndarray, " N"]
    learning_rate: Float64[np.ndarray, " N"]
    target_tokens: Float64[np.ndarray, " N"]
    seconds: Float64[np.ndarray, " N"]  # duration of training so far, which never decreases
    applied: Float64[np.ndarray, " N"]  # 1, or 0 for an update that was skipped

    def __len__(self) -> int:
        """Return the number of updates."""
        return len(self.step)

    def select(self, kept: Bool[np.ndarray, " N"]) -> "Updates":
        """Return only the updates for which `kept` is true."""
        if kept.all():
            return self
        return Updates(*(getattr(self, field.name)[kept] for field in fields(self)))


@final
@dataclass(frozen=True)
class Validation:
    """The loss and the score of the development set at one step, as far as the log has them."""

    step: int
    nats: float | None
    score: float | None
    score_name: str | None


@final
@dataclass(frozen=True)
class RunLog:
    """A run's log without the lines that a resume made void, and how many lines were left out."""

    updates: Updates
    validations: tuple[Validation, ...]
    marks: Mapping[str, tuple[int, ...]]  # steps at which a run was resumed, saved, and so on
    lost: int  # updates made void by a resume at a step before theirs
    unreadable: int  # lines that are no event, or an update out of order
    size: int  # bytes of the log up to the end of its last whole line


def build_updates(rows: Sequence[UpdateFields]) -> Updates:
    """Return updates as columns, given the JSON fields of each update as a row."""
    columns = [list(map(itemgetter(i), rows)) for i in range(len(FIELDS))]
    numbers = [to_finite(parse_numbers(column)) for column in columns[:-1]]
    applied = np.array([value != b"false" for value in columns[-1]], dtype=float)
    return Updates(*[*numbers, applied])


def to_finite(values: Sequence[float]) -> Float64[np.ndarray, " N"]:
    """Return numbers as an array, with NaN for infinity, and clipped so that sums stay finite."""
    found = np.array(values, dtype=float)
    found[~np.isfinite(found)] = np.nan
    return np.clip(found, -LARGEST, LARGEST)


def join_updates(parts: Sequence[Updates]) -> Updates:
    """Join the updates of consecutive parts of a log."""
    parts = [part for part in parts if len(part)] or [build_updates([])]
    if len(parts) == 1:
        return parts[0]
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Updates))
    return Updates(*map(np.concatenate, columns))


def has_step(step: Float64[np.ndarray, " N"]) -> Bool[np.ndarray, " N"]:
    """Return for each of N numbers whether it can be an update's step (whole, at least 1)."""
    return (step >= 1) & (step <= MAX_STEP) & (step == np.floor(step))
