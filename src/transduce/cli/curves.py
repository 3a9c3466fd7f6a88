"""`transduce curves`: plot perplexity and score of runs by training step, or write them as CSV."""

from pathlib import Path

import click

from transduce.cli import display, options


@click.command("curves")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The picture, whose name ends in .svg or .png, or the figures, in .csv.",
)
@options.quiet
def command(*, runs: tuple[Path, ...], output: Path, quiet: bool) -> None:
    """Plot perplexity and BLEU of RUNS against updates, or write them as CSV.

    In a picture each run has a colour; a thin line is the training text, a thick one with points
    the development set. Needs the package matplotlib: pip install 'transduce[plots]'. A .csv file
    has a line for each validation and for the last update. A run may still be training.

    \b
    transduce curves run -o curves.svg
    transduce curves run -o curves.csv
    """
    from transduce.runs.curves import curves, require_curves_output

    kind = require_curves_output(output)
    options.require_writable(output)
    curves(*runs, output=output)
    if not quiet:
        display.print_message(f"the {kind}: {output}")
