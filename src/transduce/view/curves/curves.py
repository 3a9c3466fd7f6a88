"""`transduce.curves`: perplexity and score of runs by training step, from their logs."""

import csv
import io
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TypeVar, final

import numpy as np
from jaxtyping import Float64

from transduce.durable.files import require_file_name, write_atomically
from transduce.durable.folder import resolve_output
from transduce.errors import InputError
from transduce.runs.plots import encode_image
from transduce.settings.fields import require
from transduce.text.arguments import read_path
from transduce.training.journal import LOG
from transduce.view.curves.read_log import RunLog, Updates, Validation, read_run_log

OUTPUT_KINDS = {".html": "page", ".svg": "picture", ".png": "picture", ".csv": "figures"}
GROUPS = 200  # at most this many groups of updates are drawn, each as one point
Value = TypeVar("Value")


@final
@dataclass(frozen=True)
class CurvePoint:
    """A run's perplexities and score after a validation, or after its last update."""

    step: int
    seconds: float  # duration of training so far
    target_tokens: int  # number of target tokens trained on so far
    training_perplexity: float | None  # e^(mean loss) of the updates since the previous point
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


def curves(
    *runs: str | PathLike[str], output: str | PathLike[str] | None = None, full: bool = False
) -> tuple[RunCurve, ...]:
    """Return runs' perplexities and scores by training step; also write them to `output` if given.

    `output` is a file to write. Its name ends in .html (an interactive, self-contained page),
    .svg, .png (both need matplotlib) or .csv. With `full` the page holds every update, even of a
    run with more than 200,000. A run may still be training; one without an update is refused.

        (curve,) = transduce.curves("run", output="curves.html")
        perplexities = [point.perplexity for point in curve.points]
    """
    file = None if output is None else read_path("output", output)
    if output is not None and file is not None:
        require_file_name(output)
        require_curves_output(file)
    require(bool(runs), "no run was named", "transduce.curves('run')")
    folders = [read_path("runs", run) for run in runs]
    named = zip(name_runs(folders), folders, strict=True)
    logs = {name: (folder, read_run_log(folder)) for name, folder in named}
    for folder, log in logs.values():
        fact, hint = f"{folder}: it has not taken an update yet", "wait until it has"
        if log.unreadable:
            fact = f"{folder}: none of its log's lines is an update that can be read"
            hint = f"look at {LOG}"
        require(len(log.updates) > 0, fact, hint)
    found = tuple(
        RunCurve(name, folder, tuple(compute_points(log))) for name, (folder, log) in logs.items()
    )
    if file is not None:
        if file.suffix == ".csv":
            data = encode_csv(found)
        elif file.suffix == ".html":
            from transduce.view.curves.page import build_curves_page

            data = build_curves_page(logs, full=full)
        else:
            data = draw_curves({name: log for name, (_, log) in logs.items()}, file.suffix[1:])
        write_atomically(resolve_output(file), data)
    return found


def require_curves_output(output: Path) -> str:
    """Return the kind of an output file by its suffix: "page", "picture" or "figures".

    Raises InputError for another suffix, or for a picture if matplotlib is not installed.
    """
    if output.suffix not in OUTPUT_KINDS:
        fact = f"{output}: a page is .html, a picture .svg or .png, figures are .csv"
        raise InputError(fact, "-o curves.html")
    kind = OUTPUT_KINDS[output.suffix]
    if kind == "picture":
        from transduce.runs.plots import require_matplotlib

        require_matplotlib()
    return kind


def name_runs(runs: Sequence[Path]) -> list[str]:
    """Return the runs' shortest path endings that differ; raise InputError if a run is repeated."""
    folders = {os.path.realpath(run) for run in runs}
    require(len(folders) == len(runs), "the same run is named twice", "name each once")
    parts = [run.absolute().parts for run in runs]
    lengths = range(1, max(map(len, parts)) + 1)
    endings = ([str(Path(*some[-length:])) for some in parts] for length in lengths)
    return next(names for names in endings if len(set(names)) == len(names))


def draw_curves(logs: Mapping[str, RunLog], kind: str) -> bytes:
    """Return a "png" or "svg" image of the runs' perplexities, and of scores if there are any.

    Training perplexity is a thin line, that of the development set a thick one.
    """
    from matplotlib.figure import Figure

    scored = {
        name: [found for found in log.validations if found.score is not None]
        for name, log in logs.items()
    }
    labels = {name: to_label(name) for name in logs}
    score_names = {one.score_name or "score" for some in scored.values() for one in some}
    with_scores = bool(score_names)
    figure = Figure(figsize=(6 + 5 * with_scores, 4), layout="constrained")
    panels = figure.subplots(1, 1 + with_scores, squeeze=False)[0]
    panels[0].set(yscale="log", title="perplexity a piece, without smoothing")
    for number, (name, log) in enumerate(logs.items()):
        means = average_evenly(log.updates, GROUPS)
        points = [(step, finite_perplexity(nats)) for step, nats in means]
        panels[0].plot(*zip(*points, strict=True), color=f"C{number}", linewidth=0.6, alpha=0.7)
        steps, dev = [one.step for one in log.validations], dev_perplexities(log)
        panels[0].plot(steps, dev, color=f"C{number}", marker=".", label=labels[name])
        if with_scores:
            steps, scores = [one.step for one in scored[name]], [one.score for one in scored[name]]
            panels[1].plot(steps, scores, color=f"C{number}", marker=".", label=labels[name])
    if with_scores:
        names = ", ".join(map(to_label, sorted(score_names)))
        panels[1].set_title(f"{names} of the development set")
    dev = [one for log in logs.values() for one in dev_perplexities(log)]
    highest = max((one for one in dev if math.isfinite(one)), default=None)
    if highest:  # hide the first updates' high perplexity; 0 is on no logarithmic axis
        panels[0].set_ylim(top=3 * highest)
    for panel in panels:
        panel.set_xlabel("updates")
        panel.grid(visible=True, which="both", alpha=0.2)
    panels[0].legend()
    return encode_image(figure, kind)


def to_label(name: str) -> str:
    """Return a name for matplotlib, with $ escaped and \\u codes for letters its font lacks.

    A legend leaves out names that begin with an underscore, so that a blank is put before one.
    """
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    shown = (one if font.get_char_index(ord(one)) else ascii(one)[1:-1] for one in name)
    return re.sub("^_", " _", "".join(shown).replace("$", r"\$"))


def dev_perplexities(log: RunLog) -> list[float]:
    """Return the development set's perplexity at each validation, NaN if the log lacks it."""
    nats = [found.nats for found in log.validations]
    return [math.nan if one is None else finite_perplexity(one) for one in nats]


# --- The figures ----------------------------------------------------------------------------------


def compute_points(log: RunLog) -> Iterator[CurvePoint]:
    """Yield a curve point for each validation of a run, and one for its last update.

    A validation has no point if the log lacks the update at its step.
    """
    validations = {found.step: found for found in log.validations}
    steps = log.updates.step
    tokens = np.nancumsum(log.updates.target_tokens)
    for previous, last in pairwise([-1, *find_point_indices(steps, validations)]):
        step = int(steps[last])
        found = validations.get(step, Validation(step, None, None, None))
        recent = log.updates.nats[previous + 1 : last + 1]
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


def find_point_indices(steps: Float64[np.ndarray, " N"], validated: Iterable[int]) -> list[int]:
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
    return out.getvalue().encode("utf-8", "backslashreplace")


def finite_perplexity(nats: float) -> float:
    """Return the perplexity e^nats, capped at e^600 so that a logarithmic axis can show it."""
    return math.exp(min(600.0, nats))


def mean(values: Sequence[float] | Sequence[int]) -> float:
    """Return the arithmetic mean of numbers."""
    return sum(values) / len(values)


def average_evenly(updates: Updates, count: int) -> list[tuple[float, float]]:
    """Return (mean step, mean nats) for up to `count` groups of the updates with finite loss."""
    pairs = zip(updates.step.tolist(), updates.nats.tolist(), strict=True)
    finite = [pair for pair in pairs if math.isfinite(pair[1])]
    groups = split_evenly(finite, min(count, len(finite))) if finite else []
    return [(mean([step for step, _ in some]), mean([nats for _, nats in some])) for some in groups]


def split_evenly(values: Sequence[Value], count: int) -> list[Sequence[Value]]:
    """Split a sequence into `count` contiguous parts of nearly equal length."""
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [values[a:b] for a, b in pairwise(edges)]
