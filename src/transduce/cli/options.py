"""Options that several commands share, so that their help and meaning are equal everywhere."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from transduce.cli.file_path import FilePath
from transduce.durable import has_manifest
from transduce.errors import InputError
from transduce.recipes import names
from transduce.recipes.choice import customise_recipe, find_recipe
from transduce.recipes.scale import SCALES
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.text.languages import parse_languages


class RecipeName(click.ParamType):  # type: ignore[type-arg]  # generic in later versions only
    """The parameter type for a recipe, given by name or as a file."""

    name = "recipe"

    def convert(self, value: Any, param: object, ctx: object) -> Recipe:  # noqa: ANN401, ARG002
        """Convert a recipe's name or file to the recipe; refuse any other argument."""
        if isinstance(value, Recipe):
            return value
        return find_recipe(value)

    def shell_complete(self, _context: object, _: object, incomplete: str) -> list[CompletionItem]:
        """Complete a typed prefix to the names of recipes that begin with it, and to files."""
        matching = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
        return [*matching, CompletionItem(incomplete, type="file")]


class Change(click.ParamType):  # type: ignore[type-arg]
    """The parameter type for a setting and its new value, such as training.steps=2000."""

    name = "setting=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: object) -> tuple[str, str]:  # noqa: ANN401, ARG002
        """Split setting=value into the path of the setting and the text of its value."""
        if isinstance(value, tuple):
            return value
        path, sign, text = value.partition("=")
        if not sign:
            option = param.opts[0] if param else "--set"
            raise InputError(f"{option} {value}: no value", f"{option} {value}=VALUE")
        return path.strip(), text.strip()


class Languages(click.ParamType):  # type: ignore[type-arg]
    """The parameter type for the codes of a source and a target language, such as en-fr."""

    name = "source-target"

    def convert(self, value: Any, param: object, ctx: object) -> tuple[str, ...]:  # noqa: ANN401, ARG002
        """Split en-fr into ("en", "fr"); a code alone is that of a source without a target."""
        return value if isinstance(value, tuple) else parse_languages(value)


def require_writable(output: Path | None, *inputs: Path | None) -> None:
    """Refuse an output file that is an input, or whose folder is none or must stay as it is."""
    if output is None:
        return
    folder = output.parent
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder", "choose another name", file=folder)
    if not folder.is_dir():
        raise InputError("no such folder", f"mkdir -p {shlex.quote(str(folder))}", file=folder)
    require_open(folder)
    for one in inputs:
        if one and output.is_file() and one.is_file() and output.samefile(one):
            raise InputError("is read here, and would be overwritten", "another -o", file=output)


def require_open(folder: Path) -> None:
    """Refuse an output in a model, store or checkpoint, which another file would damage."""
    if has_manifest(folder):
        fact = "is a model, store or checkpoint, and another file would damage it"
        raise InputError(fact, "choose another folder", file=folder)


def scale_recipe(recipe: Recipe | None, scale: str | None, example: str) -> Recipe | None:
    """Return a recipe at a scale, or None if no recipe was named; refuse a scale without one."""
    if recipe is None:
        require(scale is None, "--scale needs a recipe, which it makes smaller", example)
        return None
    return customise_recipe(recipe, {}, scale)


settings = click.option(
    "--set",
    "changes",
    type=Change(),
    multiple=True,
    help="Change one setting; may be repeated. `transduce recipes show NAME` lists them.",
)
languages = click.option(
    "--languages",
    type=Languages(),
    help="Codes of both languages, such as en-fr (default: those of the run or model, or in the "
    "file names).",
)
name = click.option(
    "--name",
    help="The model's name (default: the recipe's, or languages, layers and updates).",
)
force = click.option("--force", is_flag=True, help="Replace what an earlier call wrote there.")
scale = click.option(
    "--scale",
    type=click.Choice(list(SCALES)),
    help="Make the recipe smaller; `transduce recipes scales` describes the scales.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")


def output(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Build the option -o for a file or folder that a command may write."""
    return click.option("-o", "--output", type=FilePath(path_type=Path), help=help_text)


quiet = click.option(
    "--quiet", is_flag=True, help="Print only warnings and errors besides the result."
)
no_progress = click.option(
    "--no-progress", is_flag=True, help="No live display, even on a terminal."
)


def is_live(option_values: Mapping[str, Any]) -> bool:
    """Return whether a command may show a live display: neither --quiet nor --no-progress given."""
    return not (option_values["quiet"] or option_values["no_progress"])
