"""`transduce draw`: draw figures and formulas of the paper with a recipe's numbers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import transduce
from transduce.cli import display, options
from transduce.cli.options import argument, option
from transduce.cli.recipes import RECIPE_OR_FOLDER, KnownRecipe
from transduce.durable.files import write_atomically
from transduce.durable.folder import resolve_output
from transduce.errors import InputError
from transduce.recipes import by_name
from transduce.recipes.choice import customise_recipe
from transduce.settings.fields import require
from transduce.view.drawings.axes import BASE

FIGURES = ("model", "attention")


@options.make_command("draw", options.quiet)
def command(
    *,
    what: str = argument(type=click.Choice([*FIGURES, "positions", "rate"])),
    recipes: tuple[KnownRecipe, ...] = argument(
        nargs=-1, type=RECIPE_OR_FOLDER, metavar="[RECIPE]..."
    ),
    output: Path | None = options.output("The picture to write, a name ending in .svg."),
    positions: int | None = option(
        "Positions that are drawn (default: 100).", type=click.IntRange(1, 2_000)
    ),
    steps: int | None = option("The last training step that is drawn.", type=click.IntRange(min=2)),
    language: str | None = option("The language of model or attention, en or de (default: en)."),
    theme: str | None = option(
        "The colours of model or attention: auto (as the reader's screen prefers), light or dark."
    ),
    changes: Sequence[tuple[str, str]] = options.settings,
) -> None:
    """Draw a figure or a formula of the paper with the numbers of a RECIPE as SVG.

    `model` draws Figure 1 and `attention` Figure 2, labelled with the sizes of the recipe and the
    parameters of each block. `positions` draws the sines and cosines of section 3.5, which depend
    on d_model alone; `rate` draws equation 3 for one or more recipes. A model's or a run's folder
    stands for its recipe. The default is the paper's base model.

    \b
    transduce draw model table3/big -o model.svg
    transduce draw attention demo --language de --theme dark -o attention.svg
    transduce draw positions -o positions.svg
    transduce draw rate table3/base table3/big -o rate.svg
    """
    if output is None or output.suffix != ".svg":
        fact = "nothing says where the picture goes" if output is None else f"{output} is not .svg"
        raise InputError(fact, f"-o {what}.svg")
    fact = f"`draw {what}` takes one recipe, and these are {len(recipes)}"
    require(what == "rate" or len(recipes) < 2, fact, "name one")
    for name, fitting, picture, hint in (
        ("steps", ("rate",), "the learning rate", "transduce draw rate --steps 20_000"),
        ("positions", ("positions",), "the positions", "transduce draw positions"),
        ("language", FIGURES, "model and attention", "transduce draw model --language de"),
        ("theme", FIGURES, "model and attention", "transduce draw model --theme dark"),
    ):
        if what not in fitting:
            options.refuse_given({name}, f"is for {picture}", hint)
    options.require_writable(output)

    draw: Callable[..., str] = getattr(transduce, f"draw_{what}")
    named = recipes or [KnownRecipe(by_name(BASE))]
    chosen = [one.with_recipe(customise_recipe(one.recipe, dict(changes))) for one in named]
    given = {"positions": positions, "steps": steps, "language": language, "theme": theme}
    chosen_options: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None
    }
    if what == "model":
        chosen_options["symbols"] = chosen[0].sizes
    svg = draw(*(one.recipe for one in chosen), **chosen_options)
    write_atomically(resolve_output(output), svg.encode())
    display.print_note(f"the picture: {output}")
