"""The panel that shows a training on a terminal."""

import io
import math
import signal
import subprocess
import sys

import pytest
from rich.console import Console
from tests.cli.treebank import TINY, write_treebank

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.cli.training import LineDisplay, PanelDisplay
from transduce.paper.training import Update
from transduce.training.progress import Progress


def update(step, nats):
    """Return a step's update with this loss."""
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
    """Return the panel of a run of nine steps, on a terminal that stores its text."""
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    return PanelDisplay(9, console)


def render(panel):
    """Print the panel and return the terminal's text."""
    panel.console.print(panel)
    return panel.console.file.getvalue()


@pytest.mark.parametrize("nats", [math.nan, math.inf])
@pytest.mark.parametrize("first", [[], [3.0, 2.0]])
def test_the_panel_shows_updates_that_are_not_finite(panel, nats, first):
    for step, value in enumerate([*first, nats], start=1):
        panel.on_update(update(step, value), Progress(step=step))
    assert f"loss {nats}" in render(panel)
    assert ("perplexity 12.18 over 2 updates" in render(panel)) == bool(first)


def test_the_speed_is_that_of_updates_and_the_time_left_has_its_share_of_validations(
    panel, monkeypatch
):
    times = iter([10.0, 16.0])  # four of these six seconds were a validation
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    panel.on_update(update(1, 3.0), Progress(step=1, target_tokens=100, seconds=5.0))
    assert panel.recent.format_pace(Progress(step=1), 9) == []
    panel.on_update(update(2, 3.0), Progress(step=2, target_tokens=300, seconds=7.0))
    assert panel.recent.format_pace(Progress(step=2), 9) == ["100 tokens/s", "0:00:42 left"]


def test_a_training_whose_messages_nobody_reads_any_more_ends_after_a_checkpoint(corpus):
    """As in `transduce train … 2>&1 | head`."""
    settings = ("training.steps=9_000", "training.validate_every=5", "training.threads=1")
    command = [
        *(sys.executable, "-m", "transduce", "train", "tiny", "-o", str(corpus / "run")),
        *(f"--{side}={corpus}/a.{code}" for side, code in (("source", "en"), ("target", "de"))),
        *(f"--dev-{side}={corpus}/d.{code}" for side, code in (("source", "en"), ("target", "de"))),
        *(f"--set={one}" for one in (*settings, "search.extra_length=5")),
    ]
    started = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup ignores it
    )
    with started as process:
        assert process.stderr is not None
        assert any(line.startswith("dev at ") for line in process.stderr)
        process.stderr.close()
        assert process.wait(60) == 128 + signal.SIGHUP
    newest, _ = load_newest_checkpoint(corpus / "run")
    assert newest is not None
    assert newest.step >= 5


@pytest.mark.parametrize("command", ["sweep craft", "distil", "reproduce table4 craft"])
def test_so_does_the_training_of_any_other_command(call, corpus, monkeypatch, command):
    def on_update(_self, update, _progress):
        if update.step == 3:
            raise BrokenPipeError

    monkeypatch.setattr(LineDisplay, "on_update", on_update)
    trees = (f"--trees={write_treebank(corpus)}/train.trees", f"--dev-trees={corpus}/dev.trees")
    texts = {
        "sweep craft": (*trees, *TINY, "--vary=training.seed=1"),
        "distil": (f"--source={corpus}/a.en", f"--outputs={corpus}/a.de", "--student=tiny"),
        "reproduce table4 craft": (*trees, f"--test-trees={corpus}/test.trees", *TINY),
    }
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    ended = call(*command.split(), *texts[command], "-o", corpus / "out")
    signal.signal(signal.SIGHUP, before)
    assert ended.code == 128 + signal.SIGHUP
    assert [path.name for path in corpus.rglob("step-*")] == ["step-00000003"]
