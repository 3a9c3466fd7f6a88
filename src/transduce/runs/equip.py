"""Equip models with what is fastest on this machine, from `transduce.fast`

Without that package everything is computed by the plain operations of `transduce.paper`, with the
same results up to rounding, and more slowly.
"""

from collections.abc import Callable, Sequence
from types import ModuleType

import torch

from transduce.corpus.batch import Batch
from transduce.machine.device import select_device
from transduce.mixing.layers import find_mixing
from transduce.paper.model import Transformer, build_transformer
from transduce.paper.operations import Operations
from transduce.paper.training import Adam, Optimiser, PendingUpdate, Update
from transduce.settings import Recipe, Training
from transduce.settings.precision import InferencePrecision
from transduce.vocabulary.files import Vocabularies

ReadBatches = Callable[[int], Sequence[Batch]]  # returns the micro-batches of a step
BatchesAndReading = tuple[ReadBatches, Callable[[PendingUpdate], Update]]


def import_chooser() -> ModuleType | None:
    """Return the module `transduce.fast.choose`, or None where that package is missing."""
    try:
        from transduce.fast import choose
    except ModuleNotFoundError as error:
        if error.name != "transduce.fast":
            raise
        return None
    return choose


def require_compiler(training: Training, device: torch.device) -> None:
    """Raise InputError if `training.compile` is set and no compiler is installed."""
    choose = import_chooser()
    if choose:
        choose.require_compiler(training, device)


def build_for_training(recipe: Recipe, vocabularies: Vocabularies) -> Transformer:
    """Return a recipe's new model with its first weights, on its device, equipped for training."""
    sizes, (source, target) = recipe.architecture, map(len, vocabularies)
    model = build_transformer(sizes, source, target, recipe.training.seed, find_mixing(sizes))
    equip_for_training(model.to(select_device()), recipe.training)
    return model


def equip_for_training(model: Transformer, training: Training) -> None:
    """Give a model, in place, the operations and modules that train it fastest on its device.

    Call this once the model is on its device, and before its optimiser is made.
    """
    choose = import_chooser()
    if choose:
        choose.equip_for_training(model, training)


def build_optimiser(model: Transformer, training: Training) -> Optimiser:
    """Return Adam on the weights of a model that is equipped for training."""
    choose = import_chooser()
    build: Callable[[Transformer, Training], Optimiser] = choose.FlatAdam if choose else Adam
    return build(model, training)


def read_ahead(batches: ReadBatches, last_step: int, device: torch.device) -> BatchesAndReading:
    """Return two functions: one gets a step's batches, the other reads an update's results."""
    choose = import_chooser()
    if choose is None:
        return batches, PendingUpdate.read
    found: BatchesAndReading = choose.read_ahead(batches, last_step, device)
    return found


def equip_for_inference(model: Transformer, precision: InferencePrecision | None = None) -> None:
    """Equip a model, in place, to decode fastest; convert it if a precision is given.

    Without a precision its weights stay as they are. With one they are converted and packed for
    good: such a model cannot be trained, saved, copied or moved to a device.
    """
    choose = import_chooser()
    if choose:
        choose.equip_for_inference(model, precision)
    elif precision is not None:
        model.to(getattr(torch, precision.value))


def equip_for_long_searches(models: Sequence[Transformer]) -> None:
    """Give models, in place, operations that pay off only in long searches, such as compiled loops.

    This is for processes that search for long. What the operations need is loaded now.
    """
    for model, operations in zip(models, choose_search_operations(models, None), strict=True):
        model.operations = operations


def choose_search_operations(
    models: Sequence[Transformer], sentences: int | None
) -> list[Operations]:
    """Return each model's operations for a search of `sentences` sentences; None: of very many."""
    choose = import_chooser()
    if choose is None:
        return [model.operations for model in models]
    found: list[Operations] = choose.choose_search_operations(models, sentences)
    return found


def unsupported_int8_reason() -> str:
    """Return why int8 matrix multiplication is unavailable here, or "" if it is available."""
    choose = import_chooser()
    if choose is None:
        return "transduce.fast is not installed"
    reason: str = choose.unsupported_int8_reason()
    return reason
