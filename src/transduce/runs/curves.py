"""`transduce.curves`: perplexity and score of runs by training step, from their journals."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, final

from transduce.durable.files import write_atomically
from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.training.journal import LOG, read_journal

Value = TypeVar("Value")
Events = Sequence[dict[str, Any]]
PICTURES = (".svg", ".png")
FIGURES = ".csv"
KINDS = {**dict.fromkeys(PICTURES, "picture"), FIGURES: "figures"}


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

    name: str  # the end of the folder's path that no other run has
    folder: Path
    points: tuple[CurvePoint, ...]


def curves(
    *runs: str | PathLike[str], output: str | PathLike[str] | None = None
) -> tuple[RunCurve, ...]:
    """Return the perplexity and score of runs by training step; write a picture or CSV if asked.

    `output` is a file to write: its name ends in .svg, .png (both need matplotlib) or .csv. A run
    may still be training.

        (curve,) = transduce.curves("run", output="curves.svg")
        losses = [point.perplexity for point in curve.points]
    """
    require(bool(runs), "no run was named", "transduce.curves('run')")
    folders = [Path(run) for run in runs]
    if output is not None:
        require_curves_output(Path(output))
    journals = {
        name: read_events(run) for name, run in zip(name_runs(folders), folders, strict=True)
    }
    found = tuple(
        RunCurve(name, folder, tuple(compute_points(events)))
        for folder, (name, events) in zip(folders, journals.items(), strict=True)
    )
    if output is not None:
        write_curves(Path(output), found, journals)
    return found


def require_curves_output(output: Path) -> str:
    """Return "picture" for an image file name and "figures" for .csv; refuse other names."""
    if output.suffix not in KINDS:
        fact = f"{output}: a picture is one of {', '.join(PICTURES)}, and figures are {FIGURES}"
        raise InputError(fact, "-o curves.svg")
    kind = KINDS[output.suffix]
    if kind == "picture":
        from transduce.runs.plots import require_matplotlib

        require_matplotlib()
    return kind


def write_curves(output: Path, found: Sequence[RunCurve], journals: dict[str, Events]) -> None:
    """Write the curves of runs to a file, as an image or as CSV by the file name's extension."""
    if KINDS[output.suffix] == "figures":
        write_atomically(output, encode_csv(found))
        return
    from transduce.runs.curves_picture import draw_curves

    write_atomically(output, draw_curves(journals, output.suffix.removeprefix(".")))


def name_runs(runs: Sequence[Path]) -> list[str]:
    """Return a name for each run: the shortest end of its path that no other run has."""
    parts = [run.absolute().parts for run in runs]
    for length in range(1, max(map(len, parts))):
        names = ["/".join(some[-length:]) for some in parts]
        if len(set(names)) == len(names):
            return names
    raise InputError("the same run is named twice", "name each once")


def read_events(run: Path) -> Events:
    """Read the events of a run's journal; refuse a run without any update."""
    if not (run / LOG).is_file():
        raise InputError(f"{run}: no {LOG} lies there", "a run's folder is what train -o made")
    events = read_journal(run / LOG)
    if not select_events(events, "update"):
        raise InputError(f"{run}: it has not taken an update yet", "wait until it has")
    return events


def select_events(events: Events, kind: str) -> list[dict[str, Any]]:
    """Select the journal's events of one kind, such as "update" or "validation"."""
    return [event for event in events if event["event"] == kind]


def compute_points(events: Events) -> Iterator[CurvePoint]:
    """Yield a curve point for each validation of a run, and one for its last update."""
    updates = select_events(events, "update")
    validations = {found["step"]: found for found in select_events(events, "validation")}
    target_tokens, recent = 0, list[dict[str, Any]]()
    for update in updates:
        target_tokens += update["target_tokens"]
        recent.append(update)
        found = validations.get(update["step"], {})
        if found or update is updates[-1]:
            finite = [one["nats"] for one in recent if one["nats"] is not None]
            score = found.get("score") or {}
            yield CurvePoint(
                update["step"],
                float(update["seconds"]),
                target_tokens,
                finite_perplexity(mean(finite)) if finite else None,
                finite_perplexity(found["nats"]) if found.get("nats") is not None else None,
                score.get("value"),
                score.get("name"),
            )
            recent = []


def encode_csv(found: Sequence[RunCurve]) -> bytes:
    """Encode all curve points of all runs as CSV, numbers at full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("run", *(field.name for field in fields(CurvePoint))))
    for curve in found:
        writer.writerows((curve.name, *astuple(point)) for point in curve.points)
    return out.getvalue().encode()


def finite_perplexity(nats: float) -> float:
    """Return the perplexity e^nats, capped at e^700 so that it stays finite and can be drawn."""
    return math.exp(min(700.0, nats))


def mean(values: Sequence[float] | Sequence[int]) -> float:
    """Return the arithmetic mean of numbers."""
    return sum(values) / len(values)


def split_evenly(values: Sequence[Value], count: int) -> list[Sequence[Value]]:
    """Split a sequence into `count` contiguous parts of nearly equal length."""
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [values[a:b] for a, b in pairwise(edges)]
