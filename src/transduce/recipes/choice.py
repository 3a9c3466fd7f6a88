"""Choose a recipe by name or file, and change it by a scale and by single settings."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transduce.errors import InputError
from transduce.recipes.catalogue import RECIPES, by_name, find_original_name
from transduce.recipes.files import from_file
from transduce.recipes.scale import scale_by_name, scaled
from transduce.settings import Recipe
from transduce.settings.recipe import Value, with_changes

TITLE = re.compile(r"(\S+, )?(\d+)\+\2 layers, [\d,]+ updates?")  # what `build_title` returns


def find_recipe(recipe: object) -> Recipe:
    """Return a recipe by name or from a .toml or .json file; a `Recipe` is returned as it is."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str | Path):
        fact = f"recipe: a name, a .toml or .json file, or a Recipe, not <{type(recipe).__name__}>"
        raise InputError(fact, "recipe='table3/base'; `transduce recipes` lists them")
    path = Path(recipe)
    return from_file(path) if path.suffix in (".toml", ".json") else by_name(str(recipe))


def customise_recipe(
    recipe: Recipe, settings: Mapping[str, Value], scale: str | None = None
) -> Recipe:
    """Return a recipe with changed settings, first made smaller if `scale` names a scale.

    A recipe of the catalogue gets a new name that lists the changed settings. A recipe of the user
    keeps its name.
    """
    if scale is not None:
        recipe = scaled(recipe, scale_by_name(scale))
    if not settings or find_original_name(recipe) not in RECIPES:
        return with_changes(recipe, settings)
    base, _, listed = recipe.name.partition(" with ")
    values = dict(one.partition("=")[::2] for one in listed.split(", ") if one)
    values |= {path: format_value(value) for path, value in settings.items()}
    changes = ", ".join(f"{path}={value}" for path, value in values.items())
    return replace(with_changes(recipe, settings), name=f"{base} with {changes}")


def build_title(recipe: Recipe, updates: int | None = None) -> str:
    """Return a model's default name, such as "en-fr, 2+2 layers, 1,500 updates"."""
    languages, layers = "-".join(recipe.data.languages), recipe.architecture.layers
    count = updates or recipe.training.steps
    sizes = [f"{layers}+{layers} layers", f"{count:,} update{'s' if count > 1 else ''}"]
    return ", ".join([languages, *sizes] if languages else sizes)


def format_value(value: Value) -> str:
    """Format the value of a setting in the form that `--set` accepts."""
    return str(value).lower() if isinstance(value, bool) else str(value)
