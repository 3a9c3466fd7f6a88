"""transduce curves: what runs have learned, as a picture or in figures."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.curve import mean, parts, perplexity
from transduce.errors import InputError
from transduce.settings.fields import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Events = Sequence[dict[str, Any]]
PICTURES = (".svg", ".png")
FIGURES = ".csv"
KINDS = {**dict.fromkeys(PICTURES, "picture"), FIGURES: "figures"}
HEAD = (
    "run",
    "step",
    "seconds",
    "target_tokens",
    "training_perplexity",
    "perplexity",
    "score",
    "score_name",
)
STRETCHES = 200  # of updates, each one point


@click.command("curves")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The picture, whose name ends in .svg or .png, or the figures, in .csv.",
)
@options.quiet
def command(*, runs: tuple[Path, ...], output: Path, quiet: bool) -> None:
    """Show what RUNS have learned: perplexity and BLEU against updates.

    In a picture each run has a colour; a thin line is the training text, a thick one with points
    the development set. Needs the package matplotlib: pip install 'transduce[plots]'. As .csv there
    is a line for each look at the development set and for the last update. A run may still be at
    work.

    \b
    transduce curves run -o curves.svg
    transduce curves run -o curves.csv
    """
    from transduce.durable.files import write_atomically
    from transduce.reproduce.plot import require_matplotlib

    kind = KINDS.get(output.suffix)
    require(
        kind is not None,
        f"{output}: a picture is one of {', '.join(PICTURES)}, and figures are {FIGURES}",
        "-o curves.svg",
    )
    if kind == "picture":
        require_matplotlib()
    options.require_place_for(output)
    journals = {name: journal(run) for name, run in zip(names(runs), runs, strict=True)}
    if kind == "picture":
        write_atomically(output, picture(journals, output.suffix.removeprefix(".")))
    else:
        write_atomically(output, in_figures(journals))
    if not quiet:
        display.tell(f"the {kind}: {output}")


def names(runs: Sequence[Path]) -> list[str]:
    """What tells the runs apart: the ends of their paths, as long as they need to be."""
    parts = [run.absolute().parts for run in runs]
    for length in range(1, max(map(len, parts))):
        short = ["/".join(some[-length:]) for some in parts]
        if len(set(short)) == len(short):
            return short
    raise InputError("the same run is named twice", "name each once")


def journal(run: Path) -> Events:
    """What the run wrote down."""
    from transduce.training.journal import LOG, read_journal

    if not (run / LOG).is_file():
        raise InputError(f"{run}: no {LOG} lies there", "a run's folder is what train -o made")
    events = read_journal(run / LOG)
    if not of_kind(events, "update"):
        raise InputError(f"{run}: it has not taken an update yet", "wait until it has")
    return events


def of_kind(events: Events, kind: str) -> list[dict[str, Any]]:
    """Some of what was written down."""
    return [event for event in events if event["event"] == kind]


def in_figures(journals: dict[str, Events]) -> bytes:
    """All digits of what the picture shows, and what it took."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for name, events in journals.items():
        writer.writerows((name, *line) for line in each_look(events))
    return out.getvalue().encode()


def each_look(events: Events) -> Iterator[Sequence[object]]:
    """A line for each look at the development set, and one for the last update."""
    updates = of_kind(events, "update")
    by_step = {look["step"]: look for look in of_kind(events, "validation")}
    tokens, since = 0, []  # the updates since the last line
    for update in updates:
        tokens += update["target_tokens"]
        since.append(update)
        look = by_step.get(update["step"], {})
        if look or update is updates[-1]:
            finite = [one["nats"] for one in since if one["nats"] is not None]
            training = perplexity(mean(finite)) if finite else None
            dev = perplexity(look["nats"]) if look.get("nats") is not None else None
            score = look.get("score") or {}
            figures = (training, dev, score.get("value"), score.get("name"))
            yield update["step"], update["seconds"], tokens, *figures
            since = []


def picture(journals: dict[str, Events], kind: str) -> bytes:
    """Perplexity, and the task's score if a run has taken it, side by side."""
    from matplotlib.figure import Figure

    from transduce.reproduce.plot import encode_image

    score_names = {name for events in journals.values() for name in scores(events)[2]}
    with_scores = bool(score_names)
    figure = Figure(figsize=(6 + 5 * with_scores, 4), layout="constrained")
    panels = figure.subplots(1, 1 + with_scores, squeeze=False)[0]
    panels[0].set(yscale="log", title="perplexity a piece, without smoothing")
    for number, (name, events) in enumerate(journals.items()):
        draw_perplexity(panels[0], name, events, f"C{number}")
        if with_scores:
            panels[1].set(title=f"{', '.join(sorted(score_names))} of the development set")
            panels[1].plot(*scores(events)[:2], color=f"C{number}", marker=".", label=name)
    dev = [one for events in journals.values() for one in seen(events)]
    highest = max((one for one in dev if math.isfinite(one)), default=None)
    if highest is not None:  # what was before the first look would take all the room
        panels[0].set_ylim(top=3 * highest)
    for panel in panels:
        panel.set_xlabel("updates")
        panel.grid(visible=True, which="both", alpha=0.2)
    panels[0].legend()
    return encode_image(figure, kind)


def draw_perplexity(panel: "Axes", name: str, events: Events, color: str) -> None:
    """Thin for training, thick for the development set; the name is said once."""
    panel.plot(*smoothed(of_kind(events, "update")), color=color, linewidth=0.6, alpha=0.7)
    steps = [look["step"] for look in of_kind(events, "validation")]
    panel.plot(steps, seen(events), color=color, marker=".", label=name)


def seen(events: Events) -> list[float]:
    """Perplexity of the development set at each look."""
    looks = of_kind(events, "validation")
    return [math.nan if look["nats"] is None else perplexity(look["nats"]) for look in looks]


def smoothed(updates: Events) -> tuple[list[float], list[float]]:
    """Mean step and perplexity of each stretch; an update that was skipped has none."""
    finite = [update for update in updates if update["nats"] is not None]
    stretches = parts(finite, min(STRETCHES, len(finite))) if finite else []
    steps = [mean([update["step"] for update in some]) for some in stretches]
    nats = [mean([update["nats"] for update in some]) for some in stretches]
    return steps, [perplexity(one) for one in nats]


def scores(events: Events) -> tuple[list[int], list[float], list[str]]:
    """Return the steps of a run's validations, the score at each, and the score's names."""
    found = [(e["step"], e["score"]) for e in of_kind(events, "validation") if e["score"]]
    return (
        [step for step, _ in found],
        [score["value"] for _, score in found],
        [score["name"] for _, score in found],
    )
