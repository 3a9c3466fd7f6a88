"""Callbacks of a training: what a progress bar, a plot or a logger plugs into."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from transduce.training.progress import Progress, ValidationResult
from transduce.training.update import Update


def ignore_event(*_: object) -> None:
    """Do nothing: the default of every callback."""


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCallbacks:
    """Functions that training calls, in its own thread; each is optional.

    With several processes only rank 0 calls them. An exception in a callback ends the training; the
    same run can be resumed from its last checkpoint.

        losses = []
        TrainingCallbacks(on_update=lambda update, progress: losses.append(update.loss))
    """

    # after every update, also one that was skipped because it was not finite (`update.applied`)
    on_update: Callable[[Update, Progress], None] = ignore_event
    # after every validation; `progress` already counts it
    on_validation: Callable[[ValidationResult, Progress], None] = ignore_event
    # a sentence for people, such as a checkpoint that could not be written; training continues
    on_message: Callable[[str], None] = ignore_event
