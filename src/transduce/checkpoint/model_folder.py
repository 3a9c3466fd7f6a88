"""The model folder: weights, recipe, vocabularies, and the model card."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from string import hexdigits
from types import MappingProxyType
from typing import Any, final

from torch import Tensor

from transduce.checkpoint.alignment_file import ALIGNMENT, read_alignment_heads
from transduce.checkpoint.stored_recipe import parse_stored_recipe
from transduce.checkpoint.weights import read_tensors, require_finite, to_bytes
from transduce.durable import VerifiedFolder, atomic_folder, open_folder, read_json, to_json
from transduce.durable.folder import MANIFEST
from transduce.durable.verified import AGAIN
from transduce.errors import FolderError
from transduce.settings import Recipe
from transduce.settings.alignment import AlignmentHeads
from transduce.vocabulary.files import (
    LEXICON,
    LIMIT,
    SHARED,
    Vocabularies,
    read_vocabularies,
)

KIND = "model"
WEIGHTS = "model.safetensors"
RECIPE = "recipe.json"
CARD = "README.md"
RECIPE_LIMIT = 1 << 20
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


def save_model(
    folder: Path,
    weights: Mapping[str, Tensor],
    recipe: Recipe,
    vocabularies: Vocabularies,
    card: str,
    *,
    about: Mapping[str, object] | None = None,
) -> None:
    """Write a model folder; `about` has further manifest entries, such as the averaged steps."""
    require_finite(weights, "the model")
    with atomic_folder(folder, kind=KIND, about=about or {}) as writer:
        writer.write(WEIGHTS, to_bytes(weights))
        writer.write(RECIPE, to_json(recipe.as_json()))
        for name, content in vocabularies.files().items():
            writer.write(name, content)
        writer.write(CARD, card.encode(errors="replace"))


def is_model(folder: Path) -> bool:
    """Return whether a folder has a recipe or weights, even if the model folder is damaged."""
    return any(os.path.lexists(folder / name) for name in (RECIPE, WEIGHTS))


def open_model_folder(folder: Path) -> VerifiedFolder:
    """Open a model folder after checking its manifest and file names."""
    found = open_folder(folder, KIND, unlisted=(ALIGNMENT,))
    for name, value in found.about.items():
        if name not in ORIGIN or not ORIGIN[name](value):
            fact = f"has an entry {name[:40]!r} that is none of a model"
            raise FolderError(fact, AGAIN, file=folder / MANIFEST)
    return found


def is_hash(value: object, digits: int = 64) -> bool:
    """Return whether a value is a hash of so many hexadecimal digits."""
    return isinstance(value, str) and len(value) == digits and set(value) <= set(hexdigits.lower())


def is_list_of_steps(value: object) -> bool:
    """Return whether a value is a list of numbers of updates, each higher than the one before."""
    steps = value if isinstance(value, list) else [-1]
    return all(type(step) is int and 0 <= step < 1 << 63 for step in steps) and all(
        before < after for before, after in pairwise(steps)
    )


# what a model's manifest may say of its origin, with the check of each value
ORIGIN: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "run": partial(is_hash, digits=16),
        "averaged": is_list_of_steps,
        "parent": is_hash,
        "imported": is_hash,
    }
)


def verify_model_folder(folder: Path) -> None:
    """Check every byte of a model folder; raise FolderError for the first file that differs."""
    found = open_model_folder(folder)
    found.verify()
    values = read_json(found.read(RECIPE, RECIPE_LIMIT), folder / RECIPE)
    sizes = parse_stored_recipe(values, folder / RECIPE).architecture
    read_alignment_heads(folder, found.hash, sizes)


def load_model(folder: Path, count_weights: CountWeights | None = None) -> LoadedModel:
    """Read and verify a model folder; FolderError names a file with a wrong checksum.

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
