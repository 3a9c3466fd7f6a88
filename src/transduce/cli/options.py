"""Options that several commands share, so that they read and mean the same everywhere."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from transduce.errors import InputError
from transduce.recipes import by_name, from_file, names
from transduce.recipes.scale import SCALES, scale_by_name, scaled
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes


class RecipeName(click.ParamType):  # type: ignore[type-arg]  # generic in later versions only
    """A recipe by its name, or a file that describes one."""

    name = "recipe"

    def convert(self, value: Any, param: object, ctx: object) -> Recipe:  # noqa: ANN401, ARG002
        """The recipe."""
        if isinstance(value, Recipe):
            return value
        path = Path(value)
        return from_file(path) if path.suffix in (".toml", ".json") else by_name(value)

    def shell_complete(self, _context: object, _: object, incomplete: str) -> list[CompletionItem]:
        """The names that begin so, and files."""
        begun = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return [*begun, CompletionItem(incomplete, type="file")]


class Change(click.ParamType):  # type: ignore[type-arg]
    """A setting and its new value: training.steps=2000."""

    name = "setting=value"

    def convert(self, value: Any, param: object, ctx: object) -> tuple[str, str]:  # noqa: ANN401, ARG002
        """The path and the text of the value."""
        if isinstance(value, tuple):
            return value
        path, sign, text = value.partition("=")
        if not sign:
            raise InputError(f"--set {value}: no value", "--set training.steps=2000")
        return path.strip(), text.strip()


def require_place_for(output: Path | None, *inputs: Path | None) -> None:
    """An output lies in a folder that exists, and not in place of a file that it is made from."""
    if output is None:
        return
    folder = output.parent
    if not folder.is_dir():
        raise InputError("no such folder", f"mkdir -p {shlex.quote(str(folder))}", file=folder)
    for one in inputs:
        if one and output.is_file() and one.is_file() and output.samefile(one):
            raise InputError("is read here, and would be overwritten", "another -o", file=output)


def changed(recipe: Recipe, changes: Sequence[tuple[str, str]], scale: str | None = None) -> Recipe:
    """The recipe at the scale, then all `--set`; its name says so, for it never changes meaning."""
    if scale is not None:
        recipe = scaled(recipe, scale_by_name(scale))
    if not changes:
        return recipe
    said = ", ".join(f"{path}={text}" for path, text in changes)
    return replace(with_changes(recipe, dict(changes)), name=f"{recipe.name} with {said}")


settings = click.option(
    "--set",
    "changes",
    type=Change(),
    multiple=True,
    help="Change one setting; may be repeated. `transduce recipes show NAME` lists them.",
)
scale = click.option(
    "--scale",
    type=click.Choice(list(SCALES)),
    help="The recipe made smaller; `transduce recipes scales` says how.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
output = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Where the result goes."
)
quiet = click.option("--quiet", is_flag=True, help="Say nothing but warnings and errors.")
no_progress = click.option(
    "--no-progress", is_flag=True, help="No live display, even on a terminal."
)
