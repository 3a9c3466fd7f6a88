"""Callbacks of training, for progress bars, plots and loggers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from transduce.paper.training import Update
from transduce.training.progress import Progress, ValidationResult


def ignore_event(*_: object) -> None:
    """Do nothing: the default value of every training callback."""


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCallbacks:
    """Functions called after each update, after each validation, and with messages; all optional.

    Training waits until a callback returns. With several processes only rank 0 calls them. An
    exception in a callback ends the training, which can be resumed from its last checkpoint.

        losses = []
        transduce.TrainingCallbacks(on_update=lambda update, progress: losses.append(update.loss))
    """

    # called after every update, also if the update was skipped (`update.applied` is false)
    on_update: Callable[[Update, Progress], None] = ignore_event
    # called after every validation, with the progress including the result
    on_validation: Callable[[ValidationResult, Progress], None] = ignore_event
    # called with a sentence to display, such as that a checkpoint could not be written
    on_message: Callable[[str], None] = ignore_event
