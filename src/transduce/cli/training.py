"""Observe a training: a live panel on a terminal, plain lines elsewhere, TensorBoard files."""

import importlib.util
import math
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.cli import display, signals
from transduce.durable.files import raise_save_errors
from transduce.errors import InputError
from transduce.settings import Recipe
from transduce.text.arguments import ignore_event
from transduce.view.curves.curves import finite_perplexity, mean, split_evenly

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from torch.utils.tensorboard import SummaryWriter

    from transduce.paper.training import Update
    from transduce.training.distributed.rank import SignalRequests
    from transduce.training.progress import Progress, TrainingCallbacks, ValidationResult

SECONDS_BETWEEN_LINES = 15.0
AVERAGED_UPDATES = 50  # number of updates over which displayed perplexity and speed are means
WIDTH = 64  # width of the progress bar and the curve, in characters
BARS = "▁▂▃▄▅▆▇█"


@contextmanager
def display_run(
    folder: Path, recipe: Recipe, *, tensorboard: bool
) -> "Iterator[tuple[TrainingCallbacks, SignalRequests]]":
    """Context manager that yields callbacks to display a run, and the requests of signals.

    With `tensorboard` the callbacks also write TensorBoard files.
    """
    with display_training(recipe) as shown:
        writing = write_tensorboard(shown, folder) if tensorboard else nullcontext(shown)
        with writing as callbacks, signals.signals_as_requests(callbacks.on_message) as requests:
            yield callbacks, requests


@contextmanager
def display_training(recipe: Recipe, *, may_be_live: bool = True) -> "Iterator[TrainingCallbacks]":
    """Context manager that yields callbacks for a command to display a run.

    When the reader of a pipe, such as `head`, has ended, the run stops as it does when the terminal
    is closed.
    """
    with open_display(recipe.training.steps, may_be_live=may_be_live) as callbacks:
        yield stop_when_unread(callbacks)


def stop_when_unread(callbacks: "TrainingCallbacks") -> "TrainingCallbacks":
    """Return callbacks that raise SIGHUP in place of BrokenPipeError and drop later messages."""

    def guard(function: Callable[..., None]) -> Callable[..., None]:
        def call(*values: object) -> None:
            try:
                function(*values)
            except BrokenPipeError:
                display.discard_messages()
                signal.raise_signal(signal.SIGHUP)

        return call

    named = {one.name: getattr(callbacks, one.name) for one in fields(callbacks)}
    heard = {name: guard(one) for name, one in named.items() if one is not ignore_event}
    return replace(callbacks, **heard)


@contextmanager
def open_display(steps: int, *, may_be_live: bool = True) -> "Iterator[TrainingCallbacks]":
    """Context manager that yields callbacks to display a run as options and terminal allow.

    They print warnings only, print lines, or show a live panel.
    """
    from transduce.training.progress import TrainingCallbacks

    if display.is_quiet():
        yield TrainingCallbacks(
            on_warning=lambda sentence: display.print_message(f"warning: {sentence}")
        )
        return
    console = display.build_console()
    shown: LineDisplay | PanelDisplay = LineDisplay(steps)
    live: AbstractContextManager[object] = nullcontext()
    if may_be_live and display.is_live() and console.is_terminal and not console.is_dumb_terminal:
        from rich.live import Live

        shown = PanelDisplay(steps, console)
        live = Live(get_renderable=shown.__rich__, console=console, refresh_per_second=4)
    with live:
        yield TrainingCallbacks(
            on_update=shown.on_update,
            on_validation=shown.on_validation,
            on_message=shown.on_message,
            on_warning=lambda sentence: shown.on_message(f"warning: {sentence}"),
        )


@contextmanager
def show_progress(recipe: Recipe) -> "Iterator[TrainingCallbacks]":
    """Context manager to give as `callbacks`; it displays a training on standard error.

    Shows a panel on a terminal, and prints a line every fifteen seconds elsewhere.

        texts, settings = ("a.en", "a.de"), {"training.steps": 200}
        transduce.train("run", texts, settings=settings, callbacks=transduce.show_progress)
    """
    with open_display(recipe.training.steps) as callbacks:
        yield callbacks


@final
class RecentUpdates:
    """A record of a run's losses and last updates, to show perplexity, speed and time left."""

    def __init__(self) -> None:
        self.nats: list[float] = []
        self.marks: list[tuple[float, int]] = []  # totals (seconds, target tokens) after updates
        self.clock: list[tuple[float, float]] = []  # (clock, seconds of updates), first and last

    def add(self, update: "Update", progress: "Progress") -> None:
        """Record an update's loss, if finite, and the run's seconds and target tokens so far."""
        if math.isfinite(update.nats):
            self.nats.append(update.nats)
        mark = progress.seconds, progress.target_tokens
        self.marks = [*self.marks[-AVERAGED_UPDATES:], mark]
        self.clock = [*self.clock[:1], (time.monotonic(), progress.seconds)]

    def format_perplexity(self) -> str:
        """Return the last 50 updates' perplexity, without label smoothing, as text."""
        last = self.nats[-AVERAGED_UPDATES:]
        if not last:
            return "perplexity nan"  # there was no finite loss
        updates = f" over {len(last)} updates" if len(last) > 1 else ""
        return f"perplexity {finite_perplexity(mean(last)):.2f}{updates}"

    def format_pace(self, progress: "Progress", steps: int) -> list[str]:
        """Return target tokens per second and time left as text; [] after a single update.

        The speed is that of the last updates alone; the time left assumes that validations and
        snapshots go on to take the same share of the time.
        """
        (began, tokens_before), (ended, tokens_after) = self.marks[0], self.marks[-1]
        seconds = ended - began
        if not seconds:
            return []
        time_passed, updating = (b - a for a, b in zip(self.clock[0], self.clock[-1], strict=True))
        share = max(1.0, time_passed / updating)
        left = share * seconds / (len(self.marks) - 1) * (steps - progress.step)
        return [
            f"{(tokens_after - tokens_before) / seconds:,.0f} tokens/s",
            f"{timedelta(seconds=round(left))} left",
        ]


@final
class LineDisplay:
    """A display that prints a progress line every fifteen seconds, for files and pipes."""

    def __init__(self, steps: int) -> None:
        self.steps, self.recent, self.last_printed = steps, RecentUpdates(), 0.0

    def on_update(self, update: "Update", progress: "Progress") -> None:
        """Print a line after the first and the last update, and every fifteen seconds."""
        self.recent.add(update, progress)
        now = time.monotonic()
        if now - self.last_printed < SECONDS_BETWEEN_LINES and progress.step != self.steps:
            return
        self.last_printed = now
        facts = [
            f"step {update.step:>7,} of {self.steps:,}",
            f"loss {update.loss:.4f}",
            self.recent.format_perplexity(),
            f"rate {update.learning_rate:.2e}",
            format_peak_memory(),
            *self.recent.format_pace(progress, self.steps),
        ]
        display.print_message("  ".join(facts))

    def on_validation(self, result: "ValidationResult", progress: "Progress") -> None:
        """Print a line with the perplexity and the score of a validation."""
        display.print_message(format_validation(result, progress))

    def on_message(self, sentence: str) -> None:
        """Print a sentence about the run on standard error."""
        display.print_message(sentence)


@final
class PanelDisplay:
    """A display of the run's progress as a panel on the terminal."""

    def __init__(self, steps: int, console: "Console") -> None:
        self.steps, self.console, self.recent = steps, console, RecentUpdates()
        self.update: Update | None = None
        self.progress: Progress | None = None
        self.validations: list[str] = []

    def on_update(self, update: "Update", progress: "Progress") -> None:
        """Store an update and the progress, which the panel shows at its next refresh."""
        self.recent.add(update, progress)
        self.update, self.progress = update, progress

    def on_validation(self, result: "ValidationResult", progress: "Progress") -> None:
        """Add a line for this validation to the panel, which shows the last five."""
        self.validations = [*self.validations[-4:], format_validation(result, progress)]

    def on_message(self, sentence: str) -> None:
        """Print a sentence above the panel."""
        self.console.print(display.escape_controls(sentence))

    def __rich__(self) -> "RenderableType":
        from rich.text import Text

        if self.update is None or self.progress is None:
            return Text("waiting for the first update …")
        pace = [
            f"step {self.progress.step:,} of {self.steps:,}",
            format_peak_memory(),
            *self.recent.format_pace(self.progress, self.steps),
        ]
        quality = [
            f"loss {self.update.loss:.3f}",
            self.recent.format_perplexity(),
            f"learning rate {self.update.learning_rate:.1e}",
        ]
        done = WIDTH * self.progress.step // self.steps
        return Text("\n").join(
            [
                Text("━" * done, "green") + Text("━" * (WIDTH - done), "bright_black"),
                Text("  ".join(pace)),
                Text("  ".join(quality), "bold"),
                Text(draw_text_curve(self.recent.nats, WIDTH), "cyan"),
                *map(Text, self.validations),
            ]
        )


def format_validation(result: "ValidationResult", progress: "Progress") -> str:
    """Format a validation as one line: its step, perplexity and score."""
    score = "" if result.score is None else f"  {result.score.name} {result.score.value:.2f}"
    return f"dev at {progress.step:,}: perplexity {finite_perplexity(result.nats):.3f}{score}"


def format_peak_memory() -> str:
    """Return the peak memory of this process as text, in GB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak * (1 if sys.platform == 'darwin' else 1024) / 1e9:.2f} GB"


def draw_text_curve(values: Sequence[float], width: int) -> str:
    """Draw values as at most `width` bar characters; values that share a bar are averaged."""
    if not values:
        return ""
    points = [mean(part) for part in split_evenly(values, min(width, len(values)))]
    low, high = min(points), max(points)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((point - low) * scale)] for point in points)


@contextmanager
def write_tensorboard(callbacks: "TrainingCallbacks", run: Path) -> "Iterator[TrainingCallbacks]":
    """Context manager that yields `callbacks`, extended to write curves for TensorBoard.

    Raises InputError if TensorBoard is not installed.
    """
    if importlib.util.find_spec("tensorboard") is None:
        raise InputError("TensorBoard is not installed", "pip install tensorboard")
    from transduce.runs.training_run import CURVES

    writer: SummaryWriter | None = None
    opened = ExitStack()

    def add(group: str, values: dict[str, float], step: int) -> None:
        nonlocal writer
        if writer is None:  # `purge_step` hides a resumed run's old points from here on
            from torch.utils.tensorboard import SummaryWriter

            with raise_save_errors(run / CURVES):
                writer = opened.enter_context(SummaryWriter(str(run / CURVES), purge_step=step))
        for name, value in values.items():
            writer.add_scalar(f"{group}/{name}", value, step)

    def on_update(update: "Update", progress: "Progress") -> None:
        callbacks.on_update(update, progress)
        training = {
            "loss": update.loss,
            "perplexity": finite_perplexity(update.nats),
            "learning rate": update.learning_rate,
            "gradient norm": update.gradient_norm,
        }
        add("training", training, update.step)

    def on_validation(result: "ValidationResult", progress: "Progress") -> None:
        callbacks.on_validation(result, progress)
        scalars = {"perplexity": finite_perplexity(result.nats)}
        if result.score is not None:
            scalars[result.score.name] = result.score.value
        add("development", scalars, progress.step)

    with opened:
        yield replace(callbacks, on_update=on_update, on_validation=on_validation)
