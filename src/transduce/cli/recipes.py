"""`transduce recipes`: list, show and compare recipes, and list the scales."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, final

import click

from transduce.cli import display, options
from transduce.cli.options import argument, flag
from transduce.cli.outcome import Commands
from transduce.errors import shorten
from transduce.recipes import SCALES, by_name, cite, difference, names
from transduce.recipes.choice import customise_recipe
from transduce.recipes.citations import PEERS
from transduce.settings import Recipe
from transduce.settings.counts import count_parameters, count_recipe_parameters
from transduce.settings.recipe import Value, find_setting

SHOWN_CHARACTERS = 40  # longer values are cut, such as data.corpus with file names and hashes
COUNTS = (
    "note: parameters are counted with as many symbols as data.vocabulary_size says. "
    "With 37,000 base has 63.0 million; Table 3 prints 65, as 41,004 to 41,208 symbols give"
)


class KnownRecipe(NamedTuple):
    """A recipe, and the sizes of both vocabularies (None unless a model or run has them)."""

    recipe: Recipe
    sizes: tuple[int, int] | None = None

    @property
    def symbols(self) -> tuple[int, int]:
        """The (source, target) vocabulary sizes, by the recipe's setting if none were learned."""
        return self.sizes or (self.recipe.data.vocabulary_size,) * 2

    @property
    def parameters(self) -> int:
        """The number of the model's parameters."""
        return count_parameters(self.recipe.architecture, *self.symbols)

    def with_recipe(self, recipe: Recipe) -> "KnownRecipe":
        """Return a changed recipe; learned sizes stay unless settings of the vocabulary changed."""
        names = ("vocabulary", "vocabulary_size", "shared_vocabulary")
        is_same = all(getattr(recipe.data, n) == getattr(self.recipe.data, n) for n in names)
        return KnownRecipe(recipe, self.sizes if is_same else None)


@final
class RecipeOrFolder(options.RecipeName):
    """The parameter type for a recipe's name or file, or for a model or run folder.

    A folder can also be given by the recipe.json or run.json in it.
    """

    def convert(self, value: Any, param: object, ctx: object) -> Any:  # noqa: ANN401
        """Return the `KnownRecipe` of a recipe's name or file, of a model folder, or of a run."""
        path = Path(value)
        folder = path.parent if path.name in ("recipe.json", "run.json") else path
        if value in ("", *names()) or not folder.is_dir():
            return KnownRecipe(super().convert(value, param, ctx))
        from transduce.checkpoint.model_files import WEIGHTS
        from transduce.checkpoint.run_file import is_run, read_run, read_run_vocabularies

        if is_run(folder):
            vocabularies, recipe = read_run_vocabularies(folder), read_run(folder).recipe
        elif (folder / WEIGHTS).exists():
            from transduce.checkpoint.stored_model import read_without_weights

            _, recipe, vocabularies = read_without_weights(folder)
        else:
            return KnownRecipe(super().convert(value, param, ctx))
        source, target = map(len, vocabularies)
        return KnownRecipe(recipe, (source, target))


RECIPE_OR_FOLDER = RecipeOrFolder()


class ListFirst(Commands):
    """The group of the subcommands of `transduce recipes`, with `list` as the default."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the subcommand `list` into the arguments if none is named."""
        no_command = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if no_command else args)


@click.group("recipes", cls=ListFirst)
def command() -> None:
    """List, show and compare recipes, with the paper's value of each setting.

    A recipe is all settings that decide a run. It is given by name, or as a TOML file that names
    a recipe to start from (`start = "table3/base"`) and changes settings in tables such as
    [training]. `show` and `diff` also take the folder of a model or a run. Without a subcommand,
    the recipes are listed.
    """


@options.make_command("list", options.quiet, group=command)
def list_recipes(
    *,
    as_json: bool = options.as_json,
) -> None:
    """List all recipes: name, number of parameters, description."""
    recipes = [by_name(name) for name in names()]
    if as_json:
        for recipe in recipes:
            display.print_json(_describe(KnownRecipe(recipe)))
        return
    rows = [(r.name, f"{count_recipe_parameters(r) / 1e6:.1f} M", r.about) for r in recipes]
    display.print_result(*display.align_columns(rows))
    display.print_note(COUNTS)


@options.make_command("show", group=command)
def show(
    *,
    recipe: KnownRecipe = argument(type=RECIPE_OR_FOLDER),
    peers: bool = flag("Also show where other systems differ from the paper."),
    scale: str | None = options.scale,
    changes: Sequence[tuple[str, str]] = options.settings,
    as_json: bool = options.as_json,
) -> None:
    """Show every setting of RECIPE, and its source.

    Each setting is followed by a paraphrase of the paper with the section, or by our reason where
    the paper is silent. A star marks what differs from table3/base.
    """
    changed = customise_recipe(recipe.recipe, dict(changes), scale)
    known = recipe.with_recipe(changed)
    settings = [_describe_setting(changed, *one) for one in changed.flat_settings().items()]
    if as_json:
        display.print_json(_describe(known) | {"settings": settings})
        return
    display.print_result(f"{changed.name}: {changed.about}")
    symbols = " and ".join(f"{size:,}" for size in dict.fromkeys(known.symbols))
    display.print_result(f"{known.parameters:,} parameters with {symbols} symbols")
    if changed.because:
        display.print_result(f"why it differs: {changed.because}")
    display.print_result("")
    rows = [_format_setting(one) for one in settings]
    for path, line in zip(changed.flat_settings(), display.align_columns(rows), strict=True):
        display.print_result(line)
        if peers and path in PEERS:
            display.print_result(f"        elsewhere: {PEERS[path]}")


@options.make_command("diff", group=command)
def diff(
    *,
    first: KnownRecipe = argument(type=RECIPE_OR_FOLDER),
    second: KnownRecipe = argument(type=RECIPE_OR_FOLDER),
    as_json: bool = options.as_json,
) -> None:
    """List the settings in which FIRST and SECOND differ."""
    rows = difference(first.recipe, second.recipe)
    if as_json:
        for path, a, b in rows:
            display.print_json({"setting": path, "first": a, "second": b})
        return
    if not rows:
        display.print_message("no setting differs")
        return
    table = [
        ("setting", first.recipe.name, second.recipe.name),
        *((path, _format_value(a), _format_value(b)) for path, a, b in rows),
        ("parameters", *(_format_value(one.parameters) for one in (first, second))),
    ]
    display.print_result(*display.align_columns(table))


@options.make_command("scales", group=command)
def scales(
    *,
    as_json: bool = options.as_json,
) -> None:
    """Show how `--scale` shrinks a recipe, how long training takes, and what findings remain."""
    if as_json:
        for scale in SCALES.values():
            display.print_json(dataclasses.asdict(scale) | {"settings": scale.settings})
        return
    for scale in SCALES.values():
        display.print_result(f"{scale.name}: {scale.about}")
        if scale.settings:
            display.print_result(f"    not a row's own: {', '.join(scale.settings)}")
        display.print_result(f"    a row like base takes {scale.cost}")
        display.print_result(f"    visible: {scale.visible_findings}")


def _describe(known: KnownRecipe) -> dict[str, object]:
    """Return a recipe's name, description, reason and number of parameters, for JSON."""
    recipe, (source, target) = known.recipe, known.symbols
    return {
        "name": recipe.name,
        "about": recipe.about,
        "because": recipe.because,
        "parameters": known.parameters,
        "symbols": source if source == target else [source, target],
    }


def _describe_setting(recipe: Recipe, path: str, value: Value) -> dict[str, object]:
    """Return a setting's value, its default and its source, as values for JSON."""
    section, says = cite(recipe, path)
    default = find_setting(path)[1].default
    described = {"setting": path, "value": value, "default": default}
    described |= {"section": section, "says": says}
    return described | ({"peers": PEERS[path]} if path in PEERS else {})


def _format_setting(one: Mapping[str, object]) -> tuple[str, ...]:
    """Return the table cells that show a setting, its default if it differs, and its source."""
    differs = one["value"] != one["default"]
    return (
        "*" if differs else " ",
        str(one["setting"]),
        _format_value(one["value"]),
        f"({_format_value(one['default'])})" if differs else "",
        f"section {one['section']}" if one["section"] else "ours",
        str(one["says"]),
    )


def _format_value(value: object) -> str:
    """Format a value for a table, as `--set` accepts it; cut a text of more than 40 characters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:_}" if isinstance(value, int) else shorten(str(value), SHOWN_CHARACTERS)
