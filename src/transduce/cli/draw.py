"""`transduce draw`: the positional encoding or the learning rate as a picture."""

from collections.abc import Sequence
from pathlib import Path

import click

from transduce.cli import display, options
from transduce.errors import InputError
from transduce.recipes.choice import customise_recipe
from transduce.settings import Recipe


@click.command("draw")
@click.argument("what", type=click.Choice(["positions", "rate"]))
@click.argument("recipes", nargs=-1, type=options.RecipeName(), metavar="[RECIPE]...")
@options.output("The picture to write, a name ending in .svg.")
@click.option(
    "--positions", type=click.IntRange(1, 2_000), help="Positions that are drawn (default: 100)."
)
@click.option("--steps", type=click.IntRange(min=2), help="The last training step that is drawn.")
@options.settings
@options.quiet
def command(
    *,
    what: str,
    recipes: tuple[Recipe, ...],
    output: Path | None,
    positions: int | None,
    steps: int | None,
    changes: Sequence[tuple[str, str]],
) -> None:
    """Draw the positional encoding or the learning rate of a RECIPE as SVG.

    `positions` draws the sines and cosines of section 3.5, which depend on d_model alone; `rate`
    draws equation 3 for one or more recipes. The default is the paper's base model.

    \b
    transduce draw positions -o positions.svg
    transduce draw rate table3/base table3/big -o rate.svg
    """
    if output is None or output.suffix != ".svg":
        given = "nothing says where the picture goes" if output is None else f"{output} is not .svg"
        raise InputError(given, f"-o {what}.svg")
    require_matching(what, len(recipes), positions, steps)
    options.require_writable(output)
    from transduce.durable.files import resolve_output, write_atomically
    from transduce.recipes import by_name
    from transduce.view.drawings.draw import BASE, POSITIONS, draw_positions, draw_rate

    chosen = [customise_recipe(one, dict(changes)) for one in recipes or (by_name(BASE),)]
    if what == "positions":
        svg = draw_positions(chosen[0], positions=positions or POSITIONS)
    else:
        svg = draw_rate(*chosen, steps=steps)
    write_atomically(resolve_output(output), svg.encode())
    display.print_note(f"the picture: {output}")


def require_matching(what: str, recipes: int, positions: int | None, steps: int | None) -> None:
    """Refuse several recipes or --steps for positions, and --positions for a learning rate."""
    if what == "positions" and recipes > 1:
        raise InputError(f"positions are drawn for one recipe, and these are {recipes}", "name one")
    if what == "positions" and steps is not None:
        raise InputError("--steps is for the learning rate", "transduce draw rate --steps 20_000")
    if what == "rate" and positions is not None:
        raise InputError("--positions is for the positions", "transduce draw positions")
