"""Write the training curves of a run to TensorBoard files while it trains."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, final

from transduce.errors import InputError
from transduce.view.curves.points import finite_perplexity

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

    from transduce.paper.training import Update
    from transduce.runs.training_run import RunObserver
    from transduce.training.progress import Progress, ValidationResult


@contextmanager
def write_tensorboard(observer: "RunObserver", run: Path) -> Iterator["TensorBoardWriter"]:
    """Context manager: yield an observer that writes a run's curves and informs `observer`, too."""
    if importlib.util.find_spec("tensorboard") is None:
        raise InputError("TensorBoard is not installed", "pip install tensorboard")
    from transduce.runs.run_folder import CURVES

    writer = TensorBoardWriter(observer, run / CURVES)
    try:
        yield writer
    finally:
        writer.close()


@final
class TensorBoardWriter:
    """Run observer that writes TensorBoard files and passes all events to another observer."""

    def __init__(self, observer: "RunObserver", folder: Path) -> None:
        self.observer, self.folder = observer, folder
        self.on_message, self.on_warning = observer.on_message, observer.on_warning
        self.writer: SummaryWriter | None = None

    def on_update(self, update: "Update", progress: "Progress") -> None:
        """Write loss, perplexity, learning rate and gradient norm of an update."""
        self.observer.on_update(update, progress)
        training = {
            "loss": update.loss,
            "perplexity": finite_perplexity(update.nats),
            "learning rate": update.learning_rate,
            "gradient norm": update.gradient_norm,
        }
        self.add("training", training, update.step)

    def on_validation(self, result: "ValidationResult", progress: "Progress") -> None:
        """Write perplexity and score of a validation."""
        self.observer.on_validation(result, progress)
        scalars = {"perplexity": finite_perplexity(result.nats)}
        if result.score is not None:
            scalars[result.score.name] = result.score.value
        self.add("development", scalars, progress.step)

    def add(self, group: str, values: dict[str, float], step: int) -> None:
        """Write the scalars of one step, with names prefixed by `group`."""
        if self.writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(str(self.folder), purge_step=step)
        for name, value in values.items():
            self.writer.add_scalar(f"{group}/{name}", value, step)

    def close(self) -> None:
        """Write the buffered scalars, and close the file."""
        if self.writer is not None:
            self.writer.close()
