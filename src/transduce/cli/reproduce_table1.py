"""`transduce reproduce table1`: measure the costs of each kind of layer in Table 1."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.reproduce_rows import plot as plotted
from transduce.errors import InputError
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.reproduce.layer_costs.measure import LayerTable


class Sizes(click.ParamType):  # type: ignore[type-arg]  # generic in later versions only
    """The parameter type for a list of sizes separated by commas, such as 64,128,256."""

    name = "size,size,…"

    def convert(self, value: Any, param: object, ctx: object) -> tuple[int, ...]:  # noqa: ANN401, ARG002
        """Parse a comma-separated list into sizes, in ascending order and without repetitions."""
        if isinstance(value, tuple):
            return value
        try:
            return tuple(sorted({int(part) for part in value.split(",")}))
        except ValueError:
            raise InputError(f"{value!r} is no list of sizes", "64,128,256") from None


@click.command("table1")
@click.option("--n", type=Sizes(), help="Lengths of the sentence (default: 64 to 2048).")
@click.option("--d", type=Sizes(), help="Widths of the layer (default: 64 to 1024).")
@click.option("--k", type=int, help="Width of the convolutions (default: 3).")
@click.option("--r", type=int, help="Neighbourhood of restricted self-attention (default: 17).")
@click.option(
    "--rounds", type=click.IntRange(1, 10_000), help="Timings of each layer (default: 7)."
)
@click.option(
    "--quick", is_flag=True, help="Small sizes and few rounds: takes seconds, not a minute."
)
@click.option(
    "--threads",
    type=click.IntRange(1, 1_024),
    default=1,
    show_default=True,
    help="Threads of torch. With one, the start of threads does not blur how time grows.",
)
@options.output("A folder for the table as Markdown, CSV and JSON.")
@plotted
@options.as_json
@options.quiet
def table1(
    *,
    quick: bool,
    threads: int,
    output: Path | None,
    plot: bool,
    as_json: bool,
    quiet: bool,
    **sizes: Any,  # noqa: ANN401 - the values of --n, --d, --k, --r and --rounds
) -> None:
    """Measure the layers of Table 1, and compare them with the paper's O(…).

    The layers are self-attention, restricted self-attention, recurrent and convolutional
    (contiguous, dilated, separable). Measured are operations, counted by torch and by formula, the
    longest chain of dependent operations, path lengths by gradients, time and memory, and how each
    grows with n (sentence length) and d (width). -o FOLDER receives the table as Markdown, CSV and
    JSON.

    \b
    transduce reproduce table1
    transduce reproduce table1 --n 64,256,1024 --d 128,512 -o table1 --plot
    """
    require(
        output is not None or not plot, "--plot: the picture needs a folder", "-o FOLDER takes it"
    )
    from transduce.cli.signals import import_with_signals_deferred
    from transduce.machine.process_settings import use_threads

    import_with_signals_deferred("transduce.reproduce.layer_costs.report")
    from transduce.reproduce import table1 as measure_table1
    from transduce.reproduce.layer_costs.plan import QUICK, MeasurementPlan

    given = {name: value for name, value in sizes.items() if value is not None}
    plan = replace(QUICK if quick else MeasurementPlan(), **given)
    use_threads(threads)
    on_message = (lambda _name: None) if quiet else display.print_message
    table = measure_table1(plan, output=output, plot=plot, on_message=on_message)
    for line in format_table(table, as_json=as_json):
        display.print_result(line)
    if output and not quiet:
        display.print_message(f"the report: {output}")


def format_table(table: "LayerTable", *, as_json: bool) -> list[str]:
    """Format the measured Table 1, and sentences that sum it up, as lines or as JSON."""
    from transduce.reproduce.layer_costs.findings import describe_findings
    from transduce.reproduce.layer_costs.report import (
        build_json,
        build_sections,
        describe_conditions,
    )

    if as_json:
        return [json.dumps(build_json(table), ensure_ascii=False)]
    lines = describe_conditions(table)
    for title, cells in build_sections(table):
        lines += ["", title, *display.align_columns(cells)]
    return [*lines, "", *describe_findings(table)]
