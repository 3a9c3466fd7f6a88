"""The curves of a run for TensorBoard, on request: the journal's numbers in its own files."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.errors import InputError
from transduce.runs.curves import finite_perplexity

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

    from transduce.cli.training import View
    from transduce.training.progress import Progress, ValidationResult
    from transduce.training.update import Update


@contextmanager
def shown_too(view: "View", run: Path, *, wanted: bool) -> Iterator["View"]:
    """A view whose numbers TensorBoard can show, too, if that is wanted."""
    if not wanted:
        yield view
        return
    if importlib.util.find_spec("tensorboard") is None:
        raise InputError("TensorBoard is not installed", "pip install 'transduce[tensorboard]'")
    from transduce.runs.run_folder import CURVES

    board = Board(view, run / CURVES)
    try:
        yield board
    finally:
        board.close()


@final
class Board:
    """Scalars by step; what a lost piece of a run had written after a save is taken back."""

    def __init__(self, view: "View", folder: Path) -> None:
        self.view, self.folder = view, folder
        self.said, self.warned = view.said, view.warned
        self.writer: SummaryWriter | None = None

    def told(self, update: "Update", progress: "Progress") -> None:
        """After every update."""
        self.view.told(update, progress)
        training = {
            "loss": update.loss,
            "perplexity": finite_perplexity(update.nats),
            "learning rate": update.learning_rate,
            "gradient norm": update.gradient_norm,
        }
        self.add("training", training, update.step)

    def looked(self, look: "ValidationResult", progress: "Progress") -> None:
        """After every look at the development set."""
        self.view.looked(look, progress)
        seen = {"perplexity": finite_perplexity(look.nats)}
        if look.score is not None:
            seen[look.score.name] = look.score.value
        self.add("development", seen, progress.step)

    def add(self, group: str, values: dict[str, float], step: int) -> None:
        """Write some scalars of one step."""
        if self.writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(str(self.folder), purge_step=step)
        for name, value in values.items():
            self.writer.add_scalar(f"{group}/{name}", value, step)

    def close(self) -> None:
        """Write what is left."""
        if self.writer is not None:
            self.writer.close()
