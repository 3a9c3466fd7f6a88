"""The figures of a training curve: perplexity and score at each validation."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import TypeVar, final

import numpy as np
from jaxtyping import Float64

from transduce.view.curves.read_log import RunLog, Updates, Validation

Value = TypeVar("Value")


@final
@dataclass(frozen=True)
class CurvePoint:
    """A run's perplexities and score after a validation, or after its last update."""

    step: int
    seconds: float  # duration of training so far
    target_tokens: int  # number of target tokens trained on so far
    training_perplexity: float | None  # mean perplexity of the updates since the previous point
    perplexity: float | None  # perplexity of the development set
    score: float | None  # score of the development set, in the metric `score_name`
    score_name: str | None


@final
@dataclass(frozen=True)
class RunCurve:
    """The training curve of one run: a point for each validation, and one for the last update."""

    name: str  # the end of the folder's path, unique among the runs
    folder: Path
    points: tuple[CurvePoint, ...]


def compute_points(log: RunLog) -> Iterator[CurvePoint]:
    """Yield a curve point for each validation of a run, and one for its last update."""
    validations = {found.step: found for found in log.validations}
    steps = log.updates.step
    tokens = np.nancumsum(log.updates.target_tokens)
    for begin, last in pairwise([-1, *find_ends(steps, validations)]):
        step = int(steps[last])
        found = validations.get(step, Validation(step, None, None, None))
        recent = log.updates.nats[begin + 1 : last + 1]
        finite = recent[np.isfinite(recent)].tolist()
        yield CurvePoint(
            step,
            float(log.updates.seconds[last]),
            int(tokens[last]),
            finite_perplexity(mean(finite)) if finite else None,
            finite_perplexity(found.nats) if found.nats is not None else None,
            found.score,
            found.score_name,
        )


def find_ends(steps: Float64[np.ndarray, " N"], validated: Iterable[int]) -> list[int]:
    """Return the sorted indices of the updates at validated steps, and of the last update."""
    known = np.array(sorted(validated), dtype=float)
    found = np.searchsorted(steps, known, side="right") - 1
    ends = found[steps[found] == known].tolist() if len(steps) else []
    return sorted({*ends, *range(len(steps))[-1:]})


def encode_csv(found: Sequence[RunCurve]) -> bytes:
    """Encode all curve points of all runs as CSV, with numbers at full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("run", *(field.name for field in fields(CurvePoint))))
    for curve in found:
        writer.writerows((curve.name, *astuple(point)) for point in curve.points)
    return out.getvalue().encode()


def finite_perplexity(nats: float) -> float:
    """Return the perplexity e^nats, capped at e^600 so that an axis of powers can hold it."""
    return math.exp(min(600.0, nats))


def mean(values: Sequence[float] | Sequence[int]) -> float:
    """Return the arithmetic mean of numbers."""
    return sum(values) / len(values)


def average_evenly(updates: Updates, count: int) -> list[tuple[float, float]]:
    """Return (mean step, mean nats) for up to `count` groups of the updates with finite loss."""
    pairs = zip(updates.step.tolist(), updates.nats.tolist(), strict=True)
    finite = [pair for pair in pairs if math.isfinite(pair[1])]
    groups = split_evenly(finite, min(count, len(finite))) if finite else []
    return [(mean([step for step, _ in some]), mean([one for _, one in some])) for some in groups]


def split_evenly(values: Sequence[Value], count: int) -> list[Sequence[Value]]:
    """Split a sequence into `count` contiguous parts of nearly equal length."""
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [values[a:b] for a, b in pairwise(edges)]
