"""`transduce reproduce table2`: train rows, and compare BLEU and training cost with the paper's."""

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
@click.option("--test-source", type=FOLDER, help="The test set on which the rows are scored.")
@click.option("--test-target", type=FOLDER, help="Its translation.")
@click.option("--test-pairs", type=FOLDER, help="Both in one file, separated by a tab.")
def table2(*, row_options: RowOptions, pair: str, **test: Path | None) -> None:
    """Train the rows of Table 2, and compare BLEU and cost with the paper's.

    The rows are base, big, and base with recurrent, convolution or separable layers instead of
    self-attention, on the same data at the same counted cost. The mean of each row's last
    snapshots is scored on the given test set, by default that of the corpus. The same command
    again resumes, and several processes or machines may share the rows, as with table3.

    \b
    transduce reproduce table2 --scale toy -o table2-toy
    transduce reproduce table2 --rows base,recurrent --seeds 3 -o table2 --plot
    transduce reproduce table2 --pair en-fr --print-jobs -o table2-french > jobs
    """
    signals.ignore_checkpoint_signal()
    signals.import_with_signals_deferred("transduce.reproduce.table2_report")
    from transduce.reproduce.tables import build_table2

    print_table(build_table2(pair), row_options, {"pair": pair}, test)
