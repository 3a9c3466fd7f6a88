"""`transduce.curves`: perplexity and score of runs by training step, from their logs."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from transduce.durable.files import require_file_name, resolve_output, write_atomically
from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.arguments import read_path
from transduce.view.curves.points import RunCurve, compute_points, encode_csv
from transduce.view.curves.read_log import read_run_log
from transduce.view.curves.run_log import RunLog

PICTURES = (".svg", ".png")
FIGURES = ".csv"
PAGE = ".html"
KINDS = {**dict.fromkeys(PICTURES, "picture"), FIGURES: "figures", PAGE: "page"}


def curves(
    *runs: str | PathLike[str], output: str | PathLike[str] | None = None, full: bool = False
) -> tuple[RunCurve, ...]:
    """Return the perplexity and score of runs by training step; write a page or picture if asked.

    `output` is a file to write. Its name ends in .html (an interactive, self-contained page),
    .svg, .png (both need matplotlib) or .csv. With `full` the page holds each update
    even of a run of more than 200,000. A run may still be training.

        (curve,) = transduce.curves("run", output="curves.html")
        losses = [point.perplexity for point in curve.points]
    """
    file = None if output is None else read_path("output", output)
    if output is not None and file is not None:
        require_file_name(output)
        require_curves_output(file)
    logs = read_logs([read_path("runs", run) for run in runs])
    for folder, log in logs.values():
        require_updates(folder, log)
    found = tuple(
        RunCurve(name, folder, tuple(compute_points(log))) for name, (folder, log) in logs.items()
    )
    if file is not None:
        data = encode_curves(file.suffix, found, logs, full=full)
        write_atomically(resolve_output(file), data)
    return found


def require_curves_output(output: Path) -> str:
    """Return "page", "picture" (needs matplotlib) or "figures" by a file's name; refuse others."""
    if output.suffix not in KINDS:
        pictures = " or ".join(PICTURES)
        fact = f"{output}: a page is {PAGE}, a picture {pictures}, figures are {FIGURES}"
        raise InputError(fact, "-o curves.html")
    kind = KINDS[output.suffix]
    if kind == "picture":
        from transduce.runs.plots import require_matplotlib

        require_matplotlib()
    return kind


def encode_curves(
    suffix: str,
    found: Sequence[RunCurve],
    logs: Mapping[str, tuple[Path, RunLog]],
    *,
    full: bool,
) -> bytes:
    """Return the curves of runs as a page, an image or CSV by the file name's extension."""
    if KINDS[suffix] == "figures":
        return encode_csv(found)
    if KINDS[suffix] == "page":
        from transduce.view.curves.page import build_curves_page

        return build_curves_page(logs, full=full)
    from transduce.view.curves.picture import draw_curves

    return draw_curves({name: log for name, (_, log) in logs.items()}, suffix.removeprefix("."))


def read_logs(runs: Sequence[Path]) -> dict[str, tuple[Path, RunLog]]:
    """Map each run's name, the shortest unique end of its path, to its folder and its log."""
    require(bool(runs), "no run was named", "transduce.curves('run')")
    return {name: (run, read_run_log(run)) for name, run in zip(name_runs(runs), runs, strict=True)}


def require_updates(run: Path, log: RunLog) -> None:
    """Refuse a run without any update."""
    if not len(log.updates):
        raise InputError(f"{run}: it has not taken an update yet", "wait until it has")


def name_runs(runs: Sequence[Path]) -> list[str]:
    """Name each run by the shortest end of its path that no other has; refuse a run named twice."""
    parts = [run.absolute().parts for run in runs]
    for length in range(1, max(map(len, parts))):
        names = ["/".join(some[-length:]) for some in parts]
        if len(set(names)) == len(names):
            return names
    raise InputError("the same run is named twice", "name each once")
