"""`transduce reproduce table2`: train rows, and compare BLEU and training cost to the paper's."""

from pathlib import Path

import click

from transduce.cli import signals
from transduce.cli.reproduce_rows import FOLDER, RowOptions, print_table
from transduce.cli.reproduce_rows import row_options as with_row_options
from transduce.recipes.table2 import ROWS


@click.command("table2")
@click.option(
    "--pair",
    type=click.Choice(list(ROWS)),
    default="en-de",
    show_default=True,
    help="The languages, source first.",
)
@with_row_options
@click.option("--test-source", type=FOLDER, help="What the rows are scored on.")
@click.option("--test-target", type=FOLDER, help="Its translation.")
@click.option("--test-pairs", type=FOLDER, help="Both in one file, a tab between.")
def table2(*, row_options: RowOptions, pair: str, **test: Path | None) -> None:
    """Train the rows of Table 2, measure them, and print them beside the paper's.

    The rows are base, big, and base's stack with recurrent, convolution or separable layers in
    attention's place, on the same data at the same counted cost. Each is the mean of its last
    snapshots, scored on a test set: the one that is named, or that of the corpus. As with table3
    the same command goes on where it was stopped, and rows may be shared out.

    \b
    transduce reproduce table2 --scale toy -o table2-toy
    transduce reproduce table2 --rows base,recurrent --seeds 3 -o table2 --plot
    transduce reproduce table2 --pair en-fr --print-jobs -o table2-french > jobs
    """
    signals.ignore_checkpoint_signal()
    signals.import_with_signals_deferred("transduce.reproduce.table2_report")
    from transduce.reproduce.tables import build_table2

    print_table(build_table2(pair), row_options, {"pair": pair}, test)
