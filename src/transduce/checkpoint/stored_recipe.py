"""A recipe as it is stored: complete, so that a changed default never changes an old model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transduce.errors import FolderError, InputError
from transduce.settings import Recipe
from transduce.settings.recipe import Value, with_changes

# Settings that came after the first stored recipes, and what was done before there was a choice.
# It stays so whatever their defaults become.
ADDED_LATER: Mapping[str, Value] = {
    "training.precision": "float32",
    "training.compile": False,
    "training.pad_to_tokens": 0,
    "architecture.norm": "post",
    "architecture.mixing": "self-attention",
    "architecture.kernel_size": 3,
    "search.gamma": 0.2,
}
HINT = "the file was edited, or written by another version: take the folder from its source again"


def parse_stored_recipe(values: object, file: Path) -> Recipe:
    """The recipe in a file of ours: every setting named, none unknown."""
    if not isinstance(values, Mapping):
        raise FolderError("holds no recipe", HINT, file=file)
    try:
        recipe = Recipe.from_mapping(values)
    except InputError as fault:
        raise FolderError(f"the recipe cannot be used: {fault.fact}", HINT, file=file) from fault
    missing = [path for path in paths(recipe.as_json()) if path not in set(paths(values))]
    lacking = [path for path in missing if path not in ADDED_LATER]
    if lacking:
        raise FolderError(f"the recipe lacks {', '.join(lacking[:3])}", HINT, file=file)
    return with_changes(recipe, {path: ADDED_LATER[path] for path in missing})


def paths(values: Mapping[str, Any]) -> list[str]:
    """Every setting's name, those in tables as table.name."""
    found = []
    for key, value in values.items():
        found += [f"{key}.{name}" for name in value] if isinstance(value, Mapping) else [key]
    return found
