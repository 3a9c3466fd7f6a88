"""The image of training curves: perplexity by update, and each validation's score."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from transduce.runs.plots import encode_image
from transduce.view.curves.points import finite_perplexity, mean, split_evenly
from transduce.view.curves.run_log import RunLog, Updates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRETCHES = 200  # the number of groups of updates, each drawn as one point


def draw_curves(logs: Mapping[str, RunLog], kind: str) -> bytes:
    """Return an image of the runs' perplexities, with a panel of scores if any run has scores."""
    from matplotlib.figure import Figure

    score_names = {name for log in logs.values() for name in read_scores(log)[2]}
    with_scores = bool(score_names)
    figure = Figure(figsize=(6 + 5 * with_scores, 4), layout="constrained")
    panels = figure.subplots(1, 1 + with_scores, squeeze=False)[0]
    panels[0].set(yscale="log", title="perplexity a piece, without smoothing")
    for number, (name, log) in enumerate(logs.items()):
        draw_perplexity(panels[0], name, log, f"C{number}")
        if with_scores:
            panels[1].set(title=f"{', '.join(sorted(score_names))} of the development set")
            panels[1].plot(*read_scores(log)[:2], color=f"C{number}", marker=".", label=name)
    dev = [one for log in logs.values() for one in dev_perplexities(log)]
    highest = max((one for one in dev if math.isfinite(one)), default=None)
    if highest is not None:  # hide the first updates' high perplexity
        panels[0].set_ylim(top=3 * highest)
    for panel in panels:
        panel.set_xlabel("updates")
        panel.grid(visible=True, which="both", alpha=0.2)
    panels[0].legend()
    return encode_image(figure, kind)


def draw_perplexity(panel: "Axes", name: str, log: RunLog, color: str) -> None:
    """Draw a run's training perplexity as a thin line, development perplexity as a thick line."""
    panel.plot(*smooth_training(log.updates), color=color, linewidth=0.6, alpha=0.7)
    steps = [found.step for found in log.validations]
    panel.plot(steps, dev_perplexities(log), color=color, marker=".", label=name)


def dev_perplexities(log: RunLog) -> list[float]:
    """Return the perplexity of the development set at each validation."""
    nats = [found.nats for found in log.validations]
    return [math.nan if one is None else finite_perplexity(one) for one in nats]


def smooth_training(updates: Updates) -> tuple[list[float], list[float]]:
    """Return the mean step and perplexity of each group of updates, without skipped updates."""
    pairs = zip(updates.step.tolist(), updates.nats.tolist(), strict=True)
    finite = [pair for pair in pairs if math.isfinite(pair[1])]
    stretches = split_evenly(finite, min(STRETCHES, len(finite))) if finite else []
    steps = [mean([step for step, _ in some]) for some in stretches]
    nats = [mean([one for _, one in some]) for some in stretches]
    return steps, [finite_perplexity(one) for one in nats]


def read_scores(log: RunLog) -> tuple[list[int], list[float], list[str]]:
    """Return the steps of a run's validations, their scores, and the names of the metrics."""
    found = [one for one in log.validations if one.score is not None]
    return (
        [one.step for one in found],
        [one.score for one in found if one.score is not None],
        [one.score_name or "score" for one in found],
    )
