"""A model folder written and read: weights, recipe, vocabularies, and the model card."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from torch import Tensor

from transduce.checkpoint.model_files import (
    CARD,
    KIND,
    RECIPE,
    RECIPE_LIMIT,
    WEIGHTS,
    open_model_folder,
    read_alignment_heads,
    require_replaceable_model,
)
from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.checkpoint.weights import read_tensors, require_finite, to_bytes
from transduce.durable.folder import atomic_folder
from transduce.durable.json import read_json, to_json
from transduce.settings import Recipe
from transduce.settings.alignment import AlignmentHeads
from transduce.vocabulary.vocabulary import (
    LEXICON,
    LIMIT,
    SHARED,
    Vocabularies,
    read_vocabularies,
)

CountWeights = Callable[[Recipe, Vocabularies], int]


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedModel:
    """The contents of a model folder, every byte verified against the manifest."""

    weights: dict[str, Tensor] = field(repr=False)
    recipe: Recipe
    vocabularies: Vocabularies
    about: Mapping[str, Any]  # other entries of the manifest, such as the averaged steps
    hash: str  # sha256 of the manifest, which lists the sha256 of every file
    alignment: AlignmentHeads | None = None  # the heads chosen for word alignments, if any


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
    """Write a model folder, replacing an existing one if `force` is true.

    `about` has further entries of the manifest, such as the averaged steps.
    """
    require_finite(weights, "the model", "verify the weights that it is made from")
    require_free = require_replaceable_model if force else None
    with atomic_folder(folder, kind=KIND, about=about or {}, require_free=require_free) as writer:
        writer.write(WEIGHTS, to_bytes(weights))
        writer.write(RECIPE, to_json(recipe.as_json()))
        for name, content in vocabularies.files().items():
            writer.write(name, content)
        writer.write(CARD, card.encode(errors="replace"))


def load_model(folder: Path, count_weights: CountWeights | None = None) -> LoadedModel:
    """Read and verify a model folder; raise FolderError if it is damaged or not a model.

    If `count_weights` is given, a file with another number of weights than it returns is refused
    unread.
    """
    found = open_model_folder(folder)
    values = read_json(found.read(RECIPE, RECIPE_LIMIT), folder / RECIPE)
    recipe = parse_stored_recipe(values, folder / RECIPE)
    vocabularies = read_vocabularies(
        folder,
        lambda name: found.read(name, LIMIT),
        shared=SHARED in found.files,
        has_lexicon=LEXICON in found.files,
    )
    count = None if count_weights is None else count_weights(recipe, vocabularies)
    with found.open(WEIGHTS) as stream:
        weights = read_tensors(stream, folder / WEIGHTS, count)
    return LoadedModel(
        recipe=recipe,
        vocabularies=vocabularies,
        weights=weights,
        about=found.about,
        hash=found.hash,
        alignment=read_alignment_heads(folder, found.hash, recipe.architecture),
    )
