"""`transduce reproduce table3`: train rows, and compare perplexity and BLEU with the paper's."""

import click

from transduce.cli import signals
from transduce.cli.reproduce_rows import RowOptions, print_table
from transduce.cli.reproduce_rows import row_options as with_row_options


@click.command("table3")
@with_row_options
def table3(*, row_options: RowOptions) -> None:
    """Train the rows of Table 3, and compare their scores with the paper's.

    The same command again resumes and keeps the rows that are measured. Several processes, also on
    machines that share the folder, each train rows that no other process trains. A row that fails
    does not stop the others. --set changes a setting of every row, which the report states.

    \b
    transduce reproduce table3 --scale toy -o table3-toy
    transduce reproduce table3 --rows base --seeds 3 -o table3
    transduce reproduce table3 --print-jobs -o table3 > jobs
    """
    signals.ignore_checkpoint_signal()
    signals.import_with_signals_deferred("transduce.reproduce.table3_report")
    from transduce.reproduce.tables import build_table3

    print_table(build_table3(), row_options, {})
