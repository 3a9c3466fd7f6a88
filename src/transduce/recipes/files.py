"""Reads recipe files (TOML or JSON), which name a recipe to start from and settings to change."""

import re
import tomllib
from os import PathLike
from pathlib import Path
from typing import Any

from transduce.durable.json import parse_json
from transduce.errors import InputError
from transduce.recipes.catalogue import RECIPES, by_name
from transduce.settings import Recipe
from transduce.text.arguments import read_path

SIZE_LIMIT = 1 << 20
MOST_DOTS = 60  # in a line, because tomllib's time is quadratic in the parts of a key a.b.c
FORM = 'a recipe reads: start = "table3/base", then [training] and below it steps = 2000'


def from_file(path: str | PathLike[str]) -> Recipe:
    """Read a TOML or JSON file that names a recipe to start from and the settings to change.

    The new recipe has the file's name, unless the file sets another; a catalogue name is refused.
    """
    path = read_path("path", path)
    values = _parse_tables(path)
    try:
        start = _find_start(values.pop("start", "table3/base"))
        about = f"{start.name}, changed by {path.name}"
        recipe = Recipe.from_mapping({"name": path.stem, "about": about, **values}, start)
    except InputError as error:
        raise InputError(error.fact, error.hint, file=path) from None
    if recipe != RECIPES.get(recipe.name, recipe):
        raise InputError(
            f"the name {recipe.name!r} belongs to another recipe",
            "a recipe's name never changes meaning: choose a name of your own",
            file=path,
        )
    return recipe


def _find_start(name: object) -> Recipe:
    """Return the recipe that the key `start` of a recipe file names."""
    if not isinstance(name, str):
        raise InputError(f"start must be the name of a recipe, not {name!r}", FORM)
    return by_name(name)


def _parse_tables(path: Path) -> dict[str, Any]:
    """Parse a recipe file into tables of settings; report a syntax error with its line number."""
    text = _read_text(path)
    try:
        values = parse_json(text.encode()) if path.suffix == ".json" else tomllib.loads(text)
    except RecursionError:
        raise InputError("no recipe can be read: nested too deep", FORM, file=path) from None
    except ValueError as error:  # tomllib gives the line number only in its message
        line = re.search(r"line (\d+)", str(error))
        where = int(line[1]) if line else None
        raise InputError(f"no recipe can be read: {error}", FORM, file=path, line=where) from None
    if not isinstance(values, dict):
        raise InputError(f"a recipe is a table of settings, not {values!r}", FORM, file=path)
    return values


def _read_text(path: Path) -> str:
    """Read a small regular file as UTF-8 text without its byte-order mark."""
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
        if line.count(b".") > MOST_DOTS:
            fact = f"a line has more than {MOST_DOTS} dots"
            raise InputError(fact, FORM, file=path, line=number)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", FORM, file=path) from None
