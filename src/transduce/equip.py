"""Equip models with what is fastest on this machine, from `transduce.fast`

Without that package everything is computed by the plain operations of `transduce.paper`, with the
same results up to rounding, and more slowly.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from types import ModuleType

import torch

from transduce.machine.device import select_device
from transduce.mixing import find_mixing
from transduce.packed import Batch
from transduce.paper.model import Transformer, build_transformer
from transduce.paper.operations import Operations
from transduce.paper.training import Adam, Optimiser, PendingUpdate, Update
from transduce.settings import Recipe, Training
from transduce.settings.search import InferencePrecision
from transduce.vocabulary.vocabulary import Vocabularies

ReadBatches = Callable[[int], Sequence[Batch]]  # returns the micro-batches of a step
BatchesAndReading = tuple[ReadBatches, Callable[[PendingUpdate], Update]]


def import_fast(name: str) -> ModuleType | None:
    """Return the module of `transduce.fast` of this name, or None where that package is missing."""
    try:
        return import_module(f"transduce.fast.{name}")
    except ModuleNotFoundError as error:
        if error.name != "transduce.fast":
            raise
        return None


def require_compiler(training: Training, device: torch.device) -> None:
    """Raise InputError if `training.compile` is set and no compiler is installed."""
    if compiling := import_fast("compiling"):
        compiling.require_compiler(training, device)


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
    if choose := import_fast("choose"):
        choose.equip_for_training(model, training)


def build_optimiser(model: Transformer, training: Training) -> Optimiser:
    """Return Adam on the weights of a model that is equipped for training."""
    flat_adam = import_fast("flat_adam")
    build: Callable[[Transformer, Training], Optimiser] = flat_adam.FlatAdam if flat_adam else Adam
    return build(model, training)


def read_ahead(batches: ReadBatches, last_step: int, device: torch.device) -> BatchesAndReading:
    """Return two functions: one gets a step's batches, the other reads an update's results."""
    prefetch = import_fast("prefetch")
    if prefetch is None:
        return batches, PendingUpdate.read
    found: BatchesAndReading = prefetch.read_ahead(batches, last_step, device)
    return found


def equip_for_inference(model: Transformer, precision: InferencePrecision | None = None) -> None:
    """Equip a model, in place, to decode fastest; convert it if a precision is given.

    Without a precision its weights stay as they are. With one they are converted and packed for
    good: such a model cannot be trained, saved, copied or moved to a device.
    """
    choose = import_fast("choose")
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
    choose = import_fast("choose")
    if choose is None:
        return [model.operations for model in models]
    found: list[Operations] = choose.choose_search_operations(models, sentences)
    return found


def unsupported_int8_reason() -> str:
    """Return why int8 matrix multiplication is unavailable here, or "" if it is available."""
    kernels = import_fast("int8_kernels")
    if kernels is None:
        return "transduce.fast is not installed"
    reason: str = kernels.unsupported_int8_reason()
    return reason
