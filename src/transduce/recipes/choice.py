"""Choose a recipe by name or file, and change it by a scale and by single settings."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from transduce.errors import InputError
from transduce.recipes.catalogue import by_name
from transduce.recipes.files import from_file
from transduce.recipes.scale import scale_by_name, scaled
from transduce.settings import Recipe
from transduce.settings.recipe import Value, with_changes

NAME = 60  # most characters of a name with its changed settings, where it is a heading


def find_recipe(recipe: object) -> Recipe:
    """Return the recipe given by its name, by a .toml or .json file, or as a `Recipe`."""
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
    """Return a recipe made smaller by a scale and with changed settings, which its name lists."""
    if scale is not None:
        recipe = scaled(recipe, scale_by_name(scale))
    if not settings:
        return recipe
    changes = ", ".join(f"{path}={format_value(value)}" for path, value in settings.items())
    return replace(with_changes(recipe, settings), name=f"{recipe.name} with {changes}")


def shorten_name(name: str) -> str:
    """Return a recipe's name with the number of its changed settings if their list is long."""
    base, joint, changes = name.partition(" with ")
    if len(name) <= NAME or not joint:
        return name
    return f"{base} with {len(changes.split(', '))} changed settings"


def format_value(value: Value) -> str:
    """Format the value of a setting in the form that `--set` accepts."""
    return str(value).lower() if isinstance(value, bool) else str(value)
