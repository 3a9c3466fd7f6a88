"""transduce curves: what runs have learned, as a picture."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.curve import mean, parts
from transduce.errors import InputError
from transduce.settings.fields import demand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Events = Sequence[dict[str, Any]]
KINDS = (".svg", ".png")
STRETCHES = 200  # of updates, each one point


@click.command("curves")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The picture, whose name ends in .svg or .png.",
)
@options.quiet
def command(*, runs: tuple[Path, ...], output: Path, quiet: bool) -> None:
    """Draw what RUNS have learned: perplexity and BLEU against updates.

    Each run has a colour. A thin line is the training text, a thick one with points the
    development set. A run may still be at work. Needs the package matplotlib: pip install
    'transduce[plots]'.

    transduce curves run -o curves.svg
    """
    from transduce.durable.files import write_whole
    from transduce.reproduce.picture import demand_plots

    demand(
        output.suffix in KINDS,
        f"{output}: a picture is one of {', '.join(KINDS)}",
        "-o curves.svg",
    )
    demand_plots()
    options.demand_place_for(output)
    journals = {name: journal(run) for name, run in zip(names(runs), runs, strict=True)}
    write_whole(output, picture(journals, output.suffix.removeprefix(".")))
    if not quiet:
        display.tell(f"the picture: {output}")


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


def picture(journals: dict[str, Events], kind: str) -> bytes:
    """Perplexity, and BLEU if a run has looked at it, side by side."""
    from matplotlib.figure import Figure

    from transduce.reproduce.picture import as_image

    with_bleu = any(bleus(events)[0] for events in journals.values())
    figure = Figure(figsize=(6 + 5 * with_bleu, 4), layout="constrained")
    panels = figure.subplots(1, 1 + with_bleu, squeeze=False)[0]
    panels[0].set(yscale="log", title="perplexity a piece, without smoothing")
    for number, (name, events) in enumerate(journals.items()):
        draw_perplexity(panels[0], name, events, f"C{number}")
        if with_bleu:
            panels[1].set(title="BLEU of the development set")
            panels[1].plot(*bleus(events), color=f"C{number}", marker=".", label=name)
    highest = max((one for events in journals.values() for one in seen(events)), default=None)
    if highest is not None:  # what was before the first look would take all the room
        panels[0].set_ylim(top=3 * highest)
    for panel in panels:
        panel.set_xlabel("updates")
        panel.grid(visible=True, which="both", alpha=0.2)
    panels[0].legend()
    return as_image(figure, kind)


def draw_perplexity(panel: "Axes", name: str, events: Events, color: str) -> None:
    """Thin for training, thick for the development set; the name is said once."""
    panel.plot(*smoothed(of_kind(events, "update")), color=color, linewidth=0.6, alpha=0.7)
    steps = [look["step"] for look in of_kind(events, "validation")]
    panel.plot(steps, seen(events), color=color, marker=".", label=name)


def seen(events: Events) -> list[float]:
    """Perplexity of the development set at each look."""
    return [math.exp(look["nats"]) for look in of_kind(events, "validation")]


def smoothed(updates: Events) -> tuple[list[float], list[float]]:
    """Mean step and perplexity of each stretch; an update that was skipped has none."""
    finite = [update for update in updates if update["nats"] is not None]
    stretches = parts(finite, min(STRETCHES, len(finite))) if finite else []
    steps = [mean([update["step"] for update in some]) for some in stretches]
    nats = [mean([update["nats"] for update in some]) for some in stretches]
    return steps, [math.exp(one) for one in nats]


def bleus(events: Events) -> tuple[list[int], list[float]]:
    """Steps, and BLEU at each."""
    looks = [e for e in of_kind(events, "validation") if e["bleu"] is not None]
    return [look["step"] for look in looks], [look["bleu"] for look in looks]
