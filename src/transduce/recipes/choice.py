"""Choose a recipe by name or file, and change it by a scale and by single settings.

A recipe file (TOML or JSON) names a recipe to start from and settings to change.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from transduce.durable.json import parse_json
from transduce.errors import InputError, short_repr
from transduce.recipes.catalogue import RECIPES, by_name, find_original_name
from transduce.recipes.scale import scale_by_name, scaled
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import (
    CHANGE,
    Value,
    require_changes,
    require_printable,
    with_changes,
)
from transduce.text.arguments import read_path

SIZE_LIMIT = 1 << 20
MOST_DOTS = 60  # in a line, because tomllib's time is quadratic in the parts of a key a.b.c
FORM = 'a recipe reads: start = "table3/base", then [training] and below it steps = 2000'
HINT_FOLDER = "name a file of settings, or for `recipes show` the folder of a model or a run"
HINT_TEXT = "a text has options: --source FILE --target FILE, or --pairs FILE"


def find_recipe(recipe: object) -> Recipe:
    """Return the recipe given as a `Recipe`, a name, or a .toml or .json file; else InputError."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, Path | str):
        fact = f"recipe: a name, a .toml or .json file, or a Recipe, not <{type(recipe).__name__}>"
        raise InputError(fact, "recipe='table3/base'; `transduce recipes` lists them")
    path = Path(recipe)
    if str(recipe) not in ("", *RECIPES) and os.path.isdir(path):  # noqa: PTH112 - never raises
        raise InputError("is a folder, no recipe file", HINT_FOLDER, file=path)
    is_file = path.suffix in (".toml", ".json")
    if str(recipe) not in RECIPES and not is_file and os.path.isfile(path):  # noqa: PTH113
        raise InputError("is a file, but no recipe (.toml, .json)", HINT_TEXT, file=path)
    return from_file(path) if is_file else by_name(str(recipe))


def read_recipe(recipe: object, scale: str | None) -> Recipe | None:
    """Find a recipe, and scale it if `scale` is given; return None if both are None.

    Raises InputError for a scale without a recipe.
    """
    require(
        scale is None or recipe is not None,
        "a scale makes a recipe smaller, and none was named",
        "name a recipe, such as table3/base: `transduce recipes` lists them",
    )
    return None if recipe is None else customise_recipe(find_recipe(recipe), {}, scale)


def from_file(path: str | PathLike[str]) -> Recipe:
    """Return the recipe of a TOML or JSON file, which names a recipe and the settings to change.

    The new recipe has the file's name, unless the file sets another. A name that the catalogue
    gives to a different recipe is refused.
    """
    path = read_path("path", path)
    values = parse_tables(path)
    try:
        start = values.pop("start", "table3/base")
        if not isinstance(start, str):
            raise InputError(f"start must be the name of a recipe, not {short_repr(start)}", FORM)
        start = by_name(start)
        about = f"{start.name}, changed by {path.name}"
        recipe = Recipe.from_mapping({"name": path.stem, "about": about, **values}, start)
        require_printable("about", recipe.about)
        require_printable("because", recipe.because)
    except InputError as error:
        raise InputError(error.fact, error.hint, file=path) from None
    if not recipe.name.isprintable() or not recipe.name.strip():
        fact = f"{short_repr(recipe.name)} is no name of a recipe"
        raise InputError(fact, 'name = "…" in the file gives it another', file=path)
    if recipe != RECIPES.get(recipe.name, recipe):
        raise InputError(
            f"the name {recipe.name!r} belongs to another recipe",
            "a recipe's name never changes meaning: choose a name of your own",
            file=path,
        )
    return recipe


def parse_tables(path: Path) -> dict[str, Any]:
    """Parse a recipe file into nested settings; raise InputError, with the line if it is known."""
    text = read_recipe_text(path)
    try:
        values = parse_json(text.encode()) if path.suffix == ".json" else tomllib.loads(text)
    except RecursionError:
        raise InputError("no recipe can be read: nested too deep", FORM, file=path) from None
    except ValueError as error:  # tomllib gives the line number only in its message
        line = re.search(r"line (\d+)", str(error))
        where = int(line[1]) if line else None
        raise InputError(f"no recipe can be read: {error}", FORM, file=path, line=where) from None
    if not isinstance(values, dict):
        raise InputError(
            f"a recipe is a table of settings, not {short_repr(values)}", FORM, file=path
        )
    return values


def read_recipe_text(path: Path) -> str:
    """Return a recipe file's text; refuse over 1 MiB, other than UTF-8, and lines of many dots."""
    if path.exists() and not path.is_file():
        raise InputError("is no regular file", "name a file of settings", file=path)
    try:
        with path.open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        raise InputError(reason, "`transduce recipes` lists those with a name", file=path) from None
    if len(data) > SIZE_LIMIT:
        raise InputError(f"has more than {SIZE_LIMIT:,} bytes", "name a recipe file", file=path)
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.count(b".") > MOST_DOTS and path.suffix == ".toml":
            fact = f"a line has more than {MOST_DOTS} dots"
            raise InputError(fact, FORM, file=path, line=number)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", FORM, file=path) from None


def customise_recipe(
    recipe: Recipe, settings: Mapping[str, Value], scale: str | None = None
) -> Recipe:
    """Return a recipe with changed settings, first made smaller if `scale` names a scale.

    A recipe of the catalogue gets a new name that lists the changed settings. A recipe of the user
    keeps its name.
    """
    if scale is not None:
        recipe = scaled(recipe, scale_by_name(scale))
    require_changes(settings)
    if not settings or find_original_name(recipe) not in RECIPES:
        return with_changes(recipe, settings)
    name, _, listed = recipe.name.partition(" with ")
    values = dict(one.partition("=")[::2] for one in CHANGE.split(listed) if one)
    values |= {path: format_value(value) for path, value in settings.items()}
    changes = ", ".join(f"{path}={value}" for path, value in values.items())
    return replace(with_changes(recipe, settings), name=f"{name} with {changes}")


def format_value(value: Value) -> str:
    """Format the value of a setting in the form that `--set` accepts."""
    return str(value).lower() if isinstance(value, bool) else str(value)
