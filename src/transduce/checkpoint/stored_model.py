"""Trained weights in a folder: those of a model folder or of a run's newest checkpoint"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from torch import Tensor

from transduce.checkpoint.model_files import is_model
from transduce.checkpoint.model_folder import load_model
from transduce.checkpoint.run_file import is_run, read_run, read_run_vocabularies
from transduce.checkpoint.weights import require_matching_tensors
from transduce.durable.files import require_folder
from transduce.errors import FolderError, InputError
from transduce.mixing import find_mixing
from transduce.paper.model import Transformer
from transduce.settings import Recipe
from transduce.settings.alignment import AlignmentHeads
from transduce.settings.counts import count_parameters
from transduce.vocabulary.vocabulary import Vocabularies


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class StoredModel:
    """The verified weights, recipe and vocabularies of a model folder or a run's checkpoint."""

    folder: Path
    weights: dict[str, Tensor] = field(repr=False)
    recipe: Recipe
    vocabularies: Vocabularies
    hash: str  # sha256 of the manifest, which lists the sha256 of every file
    updates: int  # number of updates that made the weights; 0 if the folder does not say
    alignment: AlignmentHeads | None = None  # the heads that were chosen for word alignments


def read_stored_model(folder: Path) -> StoredModel:
    """Read and verify a model folder, or the newest checkpoint of a run folder."""
    if is_run(folder):
        return read_run_model(folder)
    require_folder(folder, "name a model folder or a run")
    if not is_model(folder):
        hint = "name a folder that `transduce average` or `transduce train` wrote"
        raise FolderError("is neither a model folder nor a run", hint, file=folder)
    found = load_model(folder, count_weights)
    return StoredModel(
        folder=folder,
        weights=found.weights,
        recipe=found.recipe,
        vocabularies=found.vocabularies,
        hash=found.hash,
        updates=last_step(found.about.get("averaged")),
        alignment=found.alignment,
    )


def read_run_model(folder: Path) -> StoredModel:
    """Read the newest checkpoint of a run folder; raise FolderError if it is damaged."""
    from transduce.checkpoint.resume import load_newest_checkpoint  # models are read without it

    run = read_run(folder)
    vocabularies = read_run_vocabularies(folder)
    checkpoint, rejected = load_newest_checkpoint(folder, count_weights(run.recipe, vocabularies))
    if checkpoint is None:
        raise InputError("this run has no checkpoint yet", "train it first", file=folder)
    if rejected:  # loading an older checkpoint would hide the damage
        raise FolderError(rejected[0][1], "`transduce train` resumes from an older checkpoint")
    return StoredModel(
        folder=folder,
        weights=checkpoint.weights,
        recipe=run.recipe,
        vocabularies=vocabularies,
        hash=checkpoint.hash,
        updates=checkpoint.step,
    )


def last_step(averaged: object) -> int:
    """Return the last of a manifest's averaged steps, or 0 if `averaged` is no list of steps."""
    match averaged:
        case [*_, int(last)] if last > 0:
            return last
    return 0


def count_weights(recipe: Recipe, vocabularies: Vocabularies) -> int:
    """Return the number of weights of a recipe's model with these vocabularies, by formula."""
    source, target = vocabularies
    return count_parameters(recipe.architecture, len(source), len(target))


def build_stored_model(stored: StoredModel) -> Transformer:
    """Build a stored recipe's model with its weights; refuse tensors of other names or shapes."""
    sizes, (source, target) = stored.recipe.architecture, stored.vocabularies
    model = Transformer(sizes, len(source), len(target), build_mixing=find_mixing(sizes))
    expected = {name: tuple(weight.shape) for name, weight in model.named_weights().items()}
    weights = require_matching_tensors(stored.weights, expected, file=stored.folder)
    for name, weight in model.named_weights().items():
        weight.copy_(weights[name])
    return model
