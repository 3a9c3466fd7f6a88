"""`transduce.load`: a translator from model folders or a run's newest checkpoint."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import final

from torch import Tensor

from transduce.checkpoint import (
    LoadedModel,
    is_model,
    is_run,
    load_model,
    load_newest_checkpoint,
    read_run,
    require_matching_tensors,
)
from transduce.errors import FolderError, InputError, short_repr
from transduce.inference.long_lines import OnWarning
from transduce.inference.translator import Translator, warn_user
from transduce.machine.device import select_device
from transduce.model.decoding.inference_weights import prepare_for_inference
from transduce.model.transformer import Transformer
from transduce.recipes.parameters import count_parameters
from transduce.runs.run_folder import read_run_vocabularies
from transduce.settings import Recipe
from transduce.settings.alignment import AlignmentHeads
from transduce.settings.fields import require
from transduce.settings.precision import INFERENCE_PRECISIONS, InferencePrecision
from transduce.tasks import Task, build_task
from transduce.text.arguments import read_path, require_count
from transduce.vocabulary.files import Vocabularies


@final
@dataclass(frozen=True)
class Member:
    """One loaded model of a translator, with its task, recipe and manifest hash."""

    model: Transformer
    task: Task
    recipe: Recipe
    hash: str  # sha256 of the model's manifest
    alignment: AlignmentHeads | None = None  # the heads that were chosen for word alignments


def load(
    folder: str | PathLike[str],
    *more: str | PathLike[str],
    precision: str = "float32",
    workers: int = 1,
    strict: bool = False,
    on_warning: OnWarning = warn_user,
) -> Translator:
    """Load a model folder, or the newest checkpoint of a run folder; several as an ensemble.

    `workers` above 1 is the number of processes that share the lines of a text. Each loads the
    models and uses one thread; a script with workers needs `if __name__ == "__main__":`. The
    calling process keeps its settings, such as its number of threads. A sentence too long for the
    models is split, and `on_warning` is called with a `LineWarning`, by default to issue a Python
    warning; if `strict`, such a sentence is an error.
    """
    require_count("workers", workers)
    known = " or ".join(INFERENCE_PRECISIONS)
    fact = f"precision must be {known}, not {short_repr(precision)}"
    require(precision in INFERENCE_PRECISIONS, fact)
    folders = [read_path("folder", one) for one in (folder, *more)]
    members = [load_member(one) for one in folders]
    require_same_vocabularies(members, folders)
    for member in members:
        prepare_for_inference(member.model, InferencePrecision(precision))
    models = tuple(member.model for member in members)
    hashes = tuple(member.hash for member in members)
    return Translator(
        models,
        members[0].task,
        shared_recipe(members),
        hashes,
        alignment_heads=members[0].alignment,
        strict=strict,
        on_warning=on_warning,
        workers=workers,
        reload=partial(load, *folders, precision=precision),
    )


def require_same_vocabularies(members: Sequence[Member], folders: Sequence[Path]) -> None:
    """Refuse an ensemble whose vocabularies differ: an id must mean the same to all models."""
    first = members[0].task
    for member, folder in zip(members, folders, strict=True):
        for side in ("source", "target"):
            if getattr(first, side).hash != getattr(member.task, side).hash:
                raise InputError(
                    f"its {side} vocabulary is not that of the first model",
                    "the models of an ensemble are trained on one prepared corpus",
                    file=folder,
                )


def shared_recipe(members: Sequence[Member]) -> Recipe:
    """Return the first model's recipe with the smallest data.max_length of all models."""
    first = members[0].recipe
    longest = min(member.recipe.data.max_length for member in members)
    return replace(first, data=replace(first.data, max_length=longest))


def load_member(folder: Path) -> Member:
    """Load one model folder, or the newest checkpoint of one run folder."""
    if is_run(folder):
        return load_run(folder)
    if not folder.is_dir():
        raise InputError("no such folder", "name a model folder or a run", file=folder)
    if not is_model(folder):
        hint = "name a folder that `transduce average` or `transduce train` wrote"
        raise FolderError("is neither a model folder nor a run", hint, file=folder)
    found: LoadedModel = load_model(folder, count_weights)
    model = build_model(found.weights, found.recipe, found.vocabularies, file=folder)
    task = build_task(found.recipe.data, found.vocabularies)
    return Member(model, task, found.recipe, found.hash, found.alignment)


def load_run(folder: Path) -> Member:
    """Load the newest checkpoint of a run folder; raise FolderError if it is damaged."""
    run = read_run(folder)
    vocabularies = read_run_vocabularies(folder)
    count = count_weights(run.recipe, vocabularies)
    checkpoint, rejected = load_newest_checkpoint(folder, count)
    if checkpoint is None:
        raise InputError("this run has no checkpoint yet", "train it first", file=folder)
    if rejected:  # loading an older checkpoint would hide the damage
        raise FolderError(rejected[0][1], "`transduce train` resumes from an older checkpoint")
    model = build_model(checkpoint.weights, run.recipe, vocabularies, file=folder)
    return Member(model, build_task(run.recipe.data, vocabularies), run.recipe, checkpoint.hash)


def count_weights(recipe: Recipe, vocabularies: Vocabularies) -> int:
    """Return by formula how many weights the recipe's model has with these vocabularies."""
    source, target = vocabularies
    return count_parameters(recipe.architecture, len(source), len(target))


def build_model(
    weights: dict[str, Tensor], recipe: Recipe, vocabularies: Vocabularies, *, file: Path
) -> Transformer:
    """Build the recipe's model with the given weights on the fastest device, in evaluation mode."""
    source, target = vocabularies
    model = Transformer(recipe.architecture, len(source), len(target))
    expected = {name: tuple(weight.shape) for name, weight in model.named_weights().items()}
    weights = require_matching_tensors(weights, expected, file=file)
    for name, weight in model.named_weights().items():
        weight.copy_(weights[name])
    return model.to(select_device()).eval()
