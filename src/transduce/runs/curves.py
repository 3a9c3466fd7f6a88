"""What runs have learned so far, read from their journals: what `transduce.curves` is."""

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
    """The state of a run after a validation, or after its last update."""

    step: int
    seconds: float
    target_tokens: int
    training_perplexity: float | None  # of the updates since the point before
    perplexity: float | None  # of the development set
    score: float | None
    score_name: str | None


@final
@dataclass(frozen=True)
class RunCurve:
    """The points of one run."""

    name: str  # the end of the folder's path that no other run here has
    folder: Path
    points: tuple[CurvePoint, ...]


def curves(
    *runs: str | PathLike[str], output: str | PathLike[str] | None = None
) -> tuple[RunCurve, ...]:
    """Return what runs have learned: perplexity and score by step; also as a picture or as CSV.

    `output` is a file whose name ends in .svg, .png (both need matplotlib) or .csv. A run may
    still be training.

        (curve,) = transduce.curves("run", output="curves.svg")
        losses = [point.perplexity for point in curve.points]
    """
    require(bool(runs), "no run was named", "transduce.curves('run')")
    folders = [Path(run) for run in runs]
    if output is not None:
        require_curves_output(Path(output))
    journals = {
        name: read_updates(run) for name, run in zip(name_runs(folders), folders, strict=True)
    }
    found = tuple(
        RunCurve(name, folder, tuple(compute_points(events)))
        for folder, (name, events) in zip(folders, journals.items(), strict=True)
    )
    if output is not None:
        write_curves(Path(output), found, journals)
    return found


def require_curves_output(output: Path) -> str:
    """Return whether curves are written as a picture or as figures; refuse other file names."""
    if output.suffix not in KINDS:
        fact = f"{output}: a picture is one of {', '.join(PICTURES)}, and figures are {FIGURES}"
        raise InputError(fact, "-o curves.svg")
    kind = KINDS[output.suffix]
    if kind == "picture":
        from transduce.runs.plots import require_matplotlib

        require_matplotlib()
    return kind


def write_curves(output: Path, found: Sequence[RunCurve], journals: dict[str, Events]) -> None:
    """Write curves as a picture or as CSV, by the file's name."""
    if KINDS[output.suffix] == "figures":
        write_atomically(output, encode_csv(found))
        return
    from transduce.runs.curves_picture import draw_curves

    write_atomically(output, draw_curves(journals, output.suffix.removeprefix(".")))


def name_runs(runs: Sequence[Path]) -> list[str]:
    """Return the shortest ends of the runs' paths that tell them apart."""
    parts = [run.absolute().parts for run in runs]
    for length in range(1, max(map(len, parts))):
        names = ["/".join(some[-length:]) for some in parts]
        if len(set(names)) == len(names):
            return names
    raise InputError("the same run is named twice", "name each once")


def read_updates(run: Path) -> Events:
    """Read the journal of a run that has taken at least one update."""
    if not (run / LOG).is_file():
        raise InputError(f"{run}: no {LOG} lies there", "a run's folder is what train -o made")
    events = read_journal(run / LOG)
    if not select_events(events, "update"):
        raise InputError(f"{run}: it has not taken an update yet", "wait until it has")
    return events


def select_events(events: Events, kind: str) -> list[dict[str, Any]]:
    """Return the events of one kind, such as "update" or "validation"."""
    return [event for event in events if event["event"] == kind]


def compute_points(events: Events) -> Iterator[CurvePoint]:
    """Yield a point for each validation, and one for the last update."""
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
    """Return all points of all runs as CSV, with all digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("run", *(field.name for field in fields(CurvePoint))))
    for curve in found:
        writer.writerows((curve.name, *astuple(point)) for point in curve.points)
    return out.getvalue().encode()


def finite_perplexity(nats: float) -> float:
    """Return e^nats, at most e^700, so that it can be drawn."""
    return math.exp(min(700.0, nats))


def mean(values: Sequence[float] | Sequence[int]) -> float:
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def split_evenly(values: Sequence[Value], count: int) -> list[Sequence[Value]]:
    """Split values into `count` stretches of near-equal length."""
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [values[a:b] for a, b in pairwise(edges)]
