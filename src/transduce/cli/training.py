"""Training as people watch it: a live panel on a terminal, plain lines elsewhere."""

import math
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

from transduce.cli import display
from transduce.cli.curve import draw_text_curve
from transduce.runs.curves import finite_perplexity, mean

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from transduce.training.progress import Progress, ValidationResult
    from transduce.training.update import Update

EVERY = 15.0  # seconds between plain lines
SMOOTH = 50  # updates that the shown loss and speed are taken over
WIDTH = 64  # of the bar and the curve


@runtime_checkable
class View(Protocol):
    """Who watches a run."""

    def told(self, update: "Update", progress: "Progress") -> None: ...
    def looked(self, look: "ValidationResult", progress: "Progress") -> None: ...
    def said(self, sentence: str) -> None: ...
    def warned(self, sentence: str) -> None: ...


@final
@dataclass(frozen=True)
class Wishes:
    """How people want to watch a run."""

    quiet: bool = False
    live: bool = True
    curves: bool = False  # for TensorBoard, too


@contextmanager
def view(steps: int, wishes: Wishes) -> Iterator[View]:
    """Warnings alone, plain lines, or a panel, as the terminal and the options allow."""
    console = display.console()
    if wishes.quiet:
        yield Silence()
    elif wishes.live and console.is_terminal and not console.is_dumb_terminal:
        with Panel(steps, console).shown() as panel:
            yield panel
    else:
        yield Lines(steps)


@final
class Silence:
    """Nobody watches; what went wrong is told all the same."""

    def told(self, update: "Update", progress: "Progress") -> None:
        """Nothing."""

    def looked(self, look: "ValidationResult", progress: "Progress") -> None:
        """Nothing."""

    def said(self, sentence: str) -> None:
        """Nothing."""

    def warned(self, sentence: str) -> None:
        """Each time."""
        display.tell(f"warning: {sentence}")


@final
class Recent:
    """The last updates, and what is worth showing of them."""

    def __init__(self) -> None:
        self.nats: list[float] = []
        self.marks: list[tuple[float, int]] = []  # when, and target tokens of the run by then

    def add(self, update: "Update", progress: "Progress") -> None:
        """One more update; one that is not finite has no place on a curve."""
        if math.isfinite(update.nats):
            self.nats.append(update.nats)
        self.marks = [*self.marks[-SMOOTH:], (time.monotonic(), progress.target_tokens)]

    @property
    def perplexity(self) -> float:
        """Of the last updates, without smoothing, in training and so with dropout."""
        last = self.nats[-SMOOTH:]
        return finite_perplexity(mean(last)) if last else math.nan  # nothing finite yet

    def pace(self, progress: "Progress", steps: int) -> list[str]:
        """Target tokens a second, and the time to the last step; after one update, neither."""
        (began, before), (ended, after) = self.marks[0], self.marks[-1]
        seconds = ended - began
        if not seconds:
            return []
        left = seconds / (len(self.marks) - 1) * (steps - progress.step)
        return [
            f"{(after - before) / seconds:,.0f} tokens/s",
            f"{timedelta(seconds=round(left))} left",
        ]


@final
class Lines:
    """A line now and then, for files and pipes."""

    def __init__(self, steps: int) -> None:
        self.steps, self.recent, self.shown_at = steps, Recent(), 0.0

    def told(self, update: "Update", progress: "Progress") -> None:
        """After the first update, the last, and every fifteen seconds."""
        self.recent.add(update, progress)
        now = time.monotonic()
        if now - self.shown_at < EVERY and progress.step != self.steps:
            return
        self.shown_at = now
        facts = [
            f"step {update.step:>7,} of {self.steps:,}",
            f"loss {update.loss:.4f}",
            f"perplexity {self.recent.perplexity:.2f}",
            f"rate {update.learning_rate:.2e}",
            memory(),
            *self.recent.pace(progress, self.steps),
        ]
        display.tell("  ".join(facts))

    def looked(self, look: "ValidationResult", progress: "Progress") -> None:
        """Each time."""
        display.tell(looked_line(look, progress))

    def said(self, sentence: str) -> None:
        """Each time."""
        display.tell(sentence)

    def warned(self, sentence: str) -> None:
        """Each time."""
        self.said(f"warning: {sentence}")


@final
class Panel:
    """The state of the run in a few lines that renew themselves."""

    def __init__(self, steps: int, console: "Console") -> None:
        self.steps, self.console, self.recent = steps, console, Recent()
        self.update: Update | None = None
        self.progress: Progress | None = None
        self.looks: list[str] = []

    @contextmanager
    def shown(self) -> Iterator["Panel"]:
        """On the screen while the run goes on."""
        from rich.live import Live

        live = Live(
            get_renderable=self.__rich__,
            console=self.console,
            refresh_per_second=4,
            transient=False,
        )
        with live:
            yield self

    def told(self, update: "Update", progress: "Progress") -> None:
        """Shown at the next refresh."""
        self.recent.add(update, progress)
        self.update, self.progress = update, progress

    def looked(self, look: "ValidationResult", progress: "Progress") -> None:
        """The last few stay in sight."""
        self.looks = [*self.looks[-4:], looked_line(look, progress)]

    def said(self, sentence: str) -> None:
        """Above the panel, where it stays."""
        self.console.print(display.visible(sentence))

    def warned(self, sentence: str) -> None:
        """There too."""
        self.said(f"warning: {sentence}")

    def __rich__(self) -> "RenderableType":
        from rich.text import Text

        if self.update is None or self.progress is None:
            return Text("waiting for the first update …")
        done = WIDTH * self.progress.step // self.steps
        return Text("\n").join(
            [
                Text("━" * done, "green") + Text("━" * (WIDTH - done), "bright_black"),
                Text("  ".join(self.pace(self.progress))),
                Text("  ".join(self.quality(self.update)), "bold"),
                Text(draw_text_curve(self.recent.nats, WIDTH), "cyan"),
                *map(Text, self.looks),
            ]
        )

    def pace(self, progress: "Progress") -> list[str]:
        """How far, how fast, how long still."""
        return [
            f"step {progress.step:,} of {self.steps:,}",
            memory(),
            *self.recent.pace(progress, self.steps),
        ]

    def quality(self, update: "Update") -> list[str]:
        """What people hope to see fall; the curve below it is that of the loss."""
        return [
            f"loss {update.loss:.3f}",
            f"perplexity {self.recent.perplexity:.2f}",
            f"learning rate {update.learning_rate:.1e}",
        ]


def looked_line(look: "ValidationResult", progress: "Progress") -> str:
    """What a look at the development set found."""
    score = "" if look.score is None else f"  {look.score.name} {look.score.value:.2f}"
    return f"dev at {progress.step:,}: perplexity {finite_perplexity(look.nats):.3f}{score}"


def memory() -> str:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{peak * (1 if sys.platform == 'darwin' else 1024) / 1e9:.2f} GB"
