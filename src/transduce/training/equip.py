"""Models, optimisers and batches equipped with what trains fastest on this machine

Without the package `transduce.fast`, the plain forms of `transduce.paper` are used.
"""

from collections.abc import Callable

import torch

from transduce.equip import describe_forms, explain_plain, import_fast
from transduce.errors import InputError
from transduce.machine.device import select_device
from transduce.machine.environment import describe_environment
from transduce.mixing import find_mixing
from transduce.paper.model import Transformer, build_transformer
from transduce.paper.training import (
    Adam,
    AddGradients,
    BuildOptimiser,
    Optimiser,
    PendingUpdate,
    ReadBatches,
    Update,
    add_gradients,
)
from transduce.settings import Recipe, Training
from transduce.settings.counts import count_parameters
from transduce.settings.fields import require
from transduce.training.distributed.process_group import ProcessGroup
from transduce.vocabulary.vocabulary import Vocabularies

LoopFunctions = tuple[ReadBatches, AddGradients, Callable[[PendingUpdate], Update]]


def describe_training_environment(group: ProcessGroup) -> dict[str, str]:
    """Return what rounding depends on, for checkpoints: versions, devices, fast or plain forms."""
    found = describe_environment(
        select_device(), reduction=group.reduction, processes=group.world_size
    )
    return {**found, "forms": describe_forms()}


def require_compiler(training: Training, device: torch.device) -> None:
    """Raise InputError if `training.compile` is set without a compiler or `transduce.fast`."""
    compiling = import_fast("compiling")
    if compiling is not None:
        compiling.require_compiler(training, device)
    elif training.compile:
        fact = f"training.compile needs transduce.fast, and {explain_plain()}"
        raise InputError(fact, "training.compile=false")


def build_for_training(recipe: Recipe, vocabularies: Vocabularies) -> Transformer:
    """Return a recipe's new model with initial weights, on its device, equipped for training.

    Raise InputError if its number of weights differs from the count by settings/counts.py.
    """
    sizes, (source, target) = recipe.architecture, map(len, vocabularies)
    model = build_transformer(sizes, source, target, recipe.training.seed, find_mixing(sizes))
    found = sum(weight.numel() for weight in model.parameters())
    counted = count_parameters(sizes, source, target)
    fact = f"the model has {found:,} weights, and settings/counts.py counts {counted:,}"
    require(found == counted, fact, "change the counts as paper/model.py was changed")
    equip_for_training(model.to(select_device()), recipe.training)
    return model


def equip_for_training(model: Transformer, training: Training) -> None:
    """Give a model, in place, the operations and modules that train it fastest on its device.

    Call this once the model is on its device, and before its optimiser is made.
    """
    if choose := import_fast("choose"):
        choose.equip_for_training(model, training)


def build_optimiser(model: Transformer, training: Training) -> Optimiser:
    """Build Adam, if possible the fast form, for a model that `equip_for_training` prepared."""
    flat_adam = import_fast("flat_adam")
    build: BuildOptimiser = flat_adam.choose_optimiser() if flat_adam else Adam
    return build(model, training)


def choose_loop(
    model: Transformer, optimiser: Optimiser, training: Training, batches: ReadBatches
) -> LoopFunctions:
    """Return a loop's functions to read batches, add gradients, and read an update's results."""
    choose = import_fast("choose")
    if choose is None:
        return batches, add_gradients, PendingUpdate.read
    found: LoopFunctions = choose.choose_loop(model, optimiser, training, batches)
    return found
