"""Callbacks of training, for progress bars, plots and loggers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from transduce.errors import short_repr
from transduce.paper.training import Update
from transduce.settings.fields import require
from transduce.text.arguments import ignore_event
from transduce.training.progress import Progress, ValidationResult


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCallbacks:
    """Optional functions to call after updates, validations and checkpoints, and with messages.

    Training waits until a callback returns. With several processes only rank 0 calls them. An
    exception in a callback ends the training, which can be resumed from its last checkpoint.

        losses = []
        transduce.TrainingCallbacks(on_update=lambda update, progress: losses.append(update.loss))
    """

    # called after every update, also if the update was skipped (`update.applied` is false)
    on_update: Callable[[Update, Progress], None] = ignore_event
    # called after every validation, with the progress including the result
    on_validation: Callable[[ValidationResult, Progress], None] = ignore_event
    # called after a checkpoint was written, with its step
    on_checkpoint: Callable[[int], None] = ignore_event
    # called with a sentence to show, such as where a run resumes
    on_message: Callable[[str], None] = ignore_event
    # called with a warning, such as of a failed checkpoint; without it `on_message` is called
    on_warning: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        for name, call in vars(self).items():
            is_function = callable(call) or (call is None and name == "on_warning")
            require(is_function, f"{name} must be a function, not {short_repr(call)}")

    def warn(self, sentence: str) -> None:
        """Call `on_warning` with a sentence, or `on_message` if `on_warning` is None."""
        (self.on_warning or self.on_message)(sentence)
