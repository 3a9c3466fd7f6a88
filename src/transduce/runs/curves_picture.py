"""The image of training curves: perplexity by update, and each validation's score."""

import math
from typing import TYPE_CHECKING

from transduce.runs.curves import Events, finite_perplexity, mean, select_events, split_evenly
from transduce.runs.plots import encode_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRETCHES = 200  # updates are averaged in so many groups, each drawn as a point


def draw_curves(journals: dict[str, Events], kind: str) -> bytes:
    """Return an image of the runs' perplexities, with a panel of scores if any run has scores."""
    from matplotlib.figure import Figure

    score_names = {name for events in journals.values() for name in read_scores(events)[2]}
    with_scores = bool(score_names)
    figure = Figure(figsize=(6 + 5 * with_scores, 4), layout="constrained")
    panels = figure.subplots(1, 1 + with_scores, squeeze=False)[0]
    panels[0].set(yscale="log", title="perplexity a piece, without smoothing")
    for number, (name, events) in enumerate(journals.items()):
        draw_perplexity(panels[0], name, events, f"C{number}")
        if with_scores:
            panels[1].set(title=f"{', '.join(sorted(score_names))} of the development set")
            panels[1].plot(*read_scores(events)[:2], color=f"C{number}", marker=".", label=name)
    dev = [one for events in journals.values() for one in dev_perplexities(events)]
    highest = max((one for one in dev if math.isfinite(one)), default=None)
    if highest is not None:  # hide the first updates' high perplexity
        panels[0].set_ylim(top=3 * highest)
    for panel in panels:
        panel.set_xlabel("updates")
        panel.grid(visible=True, which="both", alpha=0.2)
    panels[0].legend()
    return encode_image(figure, kind)


def draw_perplexity(panel: "Axes", name: str, events: Events, color: str) -> None:
    """Draw a run's training perplexity as a thin line, development perplexity as a thick line."""
    panel.plot(
        *smooth_training(select_events(events, "update")), color=color, linewidth=0.6, alpha=0.7
    )
    steps = [found["step"] for found in select_events(events, "validation")]
    panel.plot(steps, dev_perplexities(events), color=color, marker=".", label=name)


def dev_perplexities(events: Events) -> list[float]:
    """Return the perplexity of the development set at each validation."""
    nats = [found["nats"] for found in select_events(events, "validation")]
    return [math.nan if one is None else finite_perplexity(one) for one in nats]


def smooth_training(updates: Events) -> tuple[list[float], list[float]]:
    """Return the mean step and perplexity of each group of updates, without skipped updates."""
    finite = [update for update in updates if update["nats"] is not None]
    stretches = split_evenly(finite, min(STRETCHES, len(finite))) if finite else []
    steps = [mean([update["step"] for update in some]) for some in stretches]
    nats = [mean([update["nats"] for update in some]) for some in stretches]
    return steps, [finite_perplexity(one) for one in nats]


def read_scores(events: Events) -> tuple[list[int], list[float], list[str]]:
    """Return the steps of a run's validations, their scores, and the names of the metrics."""
    found = [(e["step"], e["score"]) for e in select_events(events, "validation") if e["score"]]
    return (
        [step for step, _ in found],
        [score["value"] for _, score in found],
        [score["name"] for _, score in found],
    )
