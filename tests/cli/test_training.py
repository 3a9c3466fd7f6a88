"""Training as people watch it."""

import io
import math

import pytest
from rich.console import Console

from transduce.cli.training import PanelDisplay
from transduce.training.progress import Progress
from transduce.training.update import Update


def update(step, nats):
    """An update of which only the loss matters."""
    return Update(
        step=step,
        loss=nats,
        nats=nats,
        gradient_norm=1.0,
        learning_rate=0.001,
        source_tokens=9,
        target_tokens=9,
        applied=math.isfinite(nats),
    )


@pytest.fixture
def panel():
    """A panel of a run of nine steps on a terminal that is a piece of text."""
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    return PanelDisplay(9, console)


def shown(panel):
    """What stands on the terminal."""
    panel.console.print(panel)
    return panel.console.file.getvalue()


@pytest.mark.parametrize("nats", [math.nan, math.inf])
@pytest.mark.parametrize("first", [[], [3.0, 2.0]])
def test_the_panel_outlives_updates_that_are_not_finite(panel, nats, first):
    for step, value in enumerate([*first, nats], start=1):
        panel.on_update(update(step, value), Progress(step=step))
    assert f"loss {nats}" in shown(panel)
    assert ("perplexity 12.18" in shown(panel)) == bool(first)


def test_a_pace_is_told_only_when_there_is_one(panel, monkeypatch):
    seconds = iter([10.0, 12.0])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    panel.on_update(update(1, 3.0), Progress(step=1, target_tokens=100))
    assert panel.recent.pace(Progress(step=1), 9) == []
    panel.on_update(update(2, 3.0), Progress(step=2, target_tokens=300))
    assert panel.recent.pace(Progress(step=2), 9) == ["100 tokens/s", "0:00:14 left"]
