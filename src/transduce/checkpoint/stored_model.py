"""Write and read model folders, and read a run's newest checkpoint as a model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from transduce.checkpoint.model_files import (
    CARD,
    FIGURE,
    MODEL_KIND,
    RECIPE,
    RECIPE_LIMIT,
    WEIGHTS,
    is_model,
    open_model_folder,
    read_alignment_heads,
    require_replaceable_model,
)
from transduce.checkpoint.run_file import is_run, read_run, read_run_vocabularies
from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.checkpoint.weights import (
    read_tensors,
    require_finite,
    require_finite_numbers,
    require_matching_tensors,
    to_bytes,
)
from transduce.durable.files import list_entries, require_folder
from transduce.durable.folder import VerifiedFolder, atomic_folder
from transduce.durable.json import read_json, to_json
from transduce.errors import FolderError, InputError
from transduce.mixing import find_mixing
from transduce.packed import Packed
from transduce.paper.model import Transformer
from transduce.settings import Recipe
from transduce.settings.alignment import AlignmentHeads
from transduce.settings.counts import count_parameters
from transduce.settings.recipe import renew_title
from transduce.vocabulary import BEGIN, END
from transduce.vocabulary.vocabulary import (
    LEXICON,
    MOST_VOCABULARY_BYTES,
    SHARED,
    Vocabularies,
    read_vocabularies,
)


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
    # other entries of a model folder's manifest, such as the averaged steps
    about: Mapping[str, Any] = field(default_factory=dict)
    alignment: AlignmentHeads | None = None  # the heads that were chosen for word alignments


def save_model(  # noqa: PLR0913 - what the files hold, and how
    folder: Path,
    weights: Mapping[str, Tensor],
    recipe: Recipe,
    vocabularies: Vocabularies,
    card: str,
    *,
    about: Mapping[str, object] | None = None,
    force: bool = False,
) -> None:
    """Write a model folder; InputError if it exists, unless `force` replaces an intact model.

    `about` has further entries of the manifest, such as the averaged steps.
    """
    from transduce.view.drawings.architecture import draw_figure_1

    symbols = (len(vocabularies.source), len(vocabularies.target))
    require_finite(weights, "the model", "verify the weights that it is made from")
    require_free = require_replaceable_model if force else None
    with atomic_folder(
        folder, kind=MODEL_KIND, about=about or {}, require_free=require_free
    ) as writer:
        writer.write(WEIGHTS, to_bytes(weights))
        writer.write(RECIPE, to_json(recipe.as_json()))
        for name, content in vocabularies.files().items():
            writer.write(name, content)
        writer.write(CARD, card.encode(errors="replace"))
        writer.write(FIGURE, draw_figure_1(recipe, symbols).encode())


def read_stored_model(folder: Path) -> StoredModel:
    """Read and verify a model folder or run's newest checkpoint; FolderError for other folders."""
    if is_run(folder):
        return read_run_model(folder)
    require_folder(folder, "name a model folder or a run")
    if not is_model(folder):
        hint = "name a folder that `transduce average` or `transduce train` wrote"
        # a checkpoint has no recipe, and a name with a dot is that of an interrupted writing
        seen = [one for one in sorted(list_entries(folder)) if not one.name.startswith(".")]
        inner = [one for one in seen if is_run(one) or (one / RECIPE).is_file()]
        if is_run(folder.absolute().parent):
            hint = f"name the run: {folder.parent}"
        elif inner:
            hint = "name the folder in it: " + " or ".join(map(str, inner[:2]))
        raise FolderError("is neither a model folder nor a run", hint, file=folder)
    return load_model(folder, count_weights)


def load_model(
    folder: Path, count_weights: Callable[[Recipe, Vocabularies], int] | None = None
) -> StoredModel:
    """Read and verify a model folder; raise FolderError if it is damaged or not a model.

    If `count_weights` is given, a file with another number of weights is refused, and not read.
    """
    found, recipe, vocabularies = read_without_weights(folder)
    count = None if count_weights is None else count_weights(recipe, vocabularies)
    with found.open(WEIGHTS) as stream:
        weights = read_tensors(stream, folder / WEIGHTS, count)
    return StoredModel(
        folder=folder,
        weights=weights,
        recipe=recipe,
        vocabularies=vocabularies,
        hash=found.hash,
        updates=max(found.about.get("averaged", ()), default=0),
        about=found.about,
        alignment=read_alignment_heads(folder, found.hash, recipe.architecture),
    )


def read_without_weights(folder: Path) -> tuple[VerifiedFolder, Recipe, Vocabularies]:
    """Return (model folder, recipe, vocabularies), all verified except the file of weights."""
    found = open_model_folder(folder)
    values = read_json(found.read(RECIPE, RECIPE_LIMIT), folder / RECIPE)
    vocabularies = read_vocabularies(
        folder,
        lambda name: found.read(name, MOST_VOCABULARY_BYTES),
        shared=SHARED in found.files,
        has_lexicon=LEXICON in found.files,
    )
    return found, parse_stored_recipe(values, folder / RECIPE), vocabularies


def read_run_model(folder: Path) -> StoredModel:
    """Return a run's newest checkpoint as a model; FolderError if damaged, InputError if none."""
    from transduce.checkpoint.checkpoints import load_newest_checkpoint  # only runs need it

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
        recipe=renew_title(run.recipe, checkpoint.step),
        vocabularies=vocabularies,
        hash=checkpoint.hash,
        updates=checkpoint.step,
    )


def count_weights(recipe: Recipe, vocabularies: Vocabularies) -> int:
    """Return the number of weights of a recipe's model with these vocabularies, by formula."""
    source, target = vocabularies
    return count_parameters(recipe.architecture, len(source), len(target))


def build_stored_model(stored: StoredModel) -> Transformer:
    """Build a stored model with its weights; FolderError for tensors of other names or shapes."""
    sizes, (source, target) = stored.recipe.architecture, stored.vocabularies
    model = Transformer(sizes, len(source), len(target), build_mixing=find_mixing(sizes))
    model_weights = model.named_weights()
    weights = require_matching_tensors(stored.weights, model_weights, file=stored.folder)
    for name, weight in model_weights.items():
        weight.copy_(weights[name])
    return model


@torch.inference_mode()
def require_finite_outputs(model: Transformer, folder: Path) -> None:
    """Raise NotFiniteError if a model's logits are not finite for the shortest source, END alone.

    Longer sources may still overflow, so whoever computes a probability checks that it is finite.
    """
    one = Packed.from_sentences([[END]]).to(model.output.weight.device)
    states = model.decode(one.shift_right(BEGIN), model.encode(one))
    require_finite_numbers(model.logits(states), str(folder))
