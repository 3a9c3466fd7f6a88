"""transduce reproduce table3: every row trained, measured, and set beside what the paper prints."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import display, options
from transduce.cli.inputs import corpus_options
from transduce.errors import TransduceError
from transduce.recipes.scale import SCALES
from transduce.settings.fields import demand

if TYPE_CHECKING:
    from transduce.reproduce.job import Job
    from transduce.reproduce.table3 import Table


class Names(click.ParamType):  # type: ignore[type-arg]
    """Names with commas between: base,A-h1."""

    name = "row,row,…"

    def convert(self, value: Any, param: object, ctx: object) -> tuple[str, ...]:  # noqa: ANN401, ARG002
        """Each name once."""
        if isinstance(value, tuple):
            return value
        return tuple(dict.fromkeys(filter(None, (name.strip() for name in value.split(",")))))


@click.command("table3")
@click.option(
    "--scale",
    type=click.Choice(list(SCALES)),
    default="laptop",
    show_default=True,
    help="How much smaller than the paper.",
)
@click.option("--rows", type=Names(), default="", help="Only these, such as base,A-h1.")
@click.option("--seeds", type=click.IntRange(min=1), default=1, help="Each row from so many seeds.")
@click.option("--seed", type=click.IntRange(min=0), help="Each row from this seed alone.")
@corpus_options
@click.option(
    "--store", type=click.Path(path_type=Path), help="A corpus that `transduce prepare` made."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder of all rows and of the report.",
)
@click.option(
    "--gather",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Train nothing: report on the rows that lie in this folder; may be repeated.",
)
@click.option("--print-jobs", is_flag=True, help="Train nothing: print a command for each row.")
@options.settings
@options.as_json
@options.quiet
@options.no_progress
def table3(  # noqa: PLR0913 - one for each option
    *,
    scale: str,
    rows: tuple[str, ...],
    seeds: int,
    seed: int | None,
    store: Path | None,
    output: Path,
    gather: Sequence[Path],
    print_jobs: bool,
    changes: Sequence[tuple[str, str]],
    as_json: bool,
    quiet: bool,
    no_progress: bool,
    **files: Path | None,
) -> None:
    """Train the rows of Table 3, measure them, and print them beside the paper's.

    The same command goes on where it was stopped; rows that are measured are kept. Started twice,
    or on several machines that share the folder, each takes rows that no other holds. A row that
    fails does not stop the others. --set changes a setting of every row, and the report says so.

    \b
    transduce reproduce table3 --scale toy -o table3-toy
    transduce reproduce table3 --rows base --seeds 3 -o table3
    transduce reproduce table3 --print-jobs -o table3 > jobs
    """
    from transduce.recipes.scale import scale_by_name
    from transduce.recipes.table3 import TABLE_3
    from transduce.reproduce.job import Wanted, jobs

    demand(seed is None or seeds == 1, "--seed and --seeds both name seeds", "leave one")
    numbers = range(1, seeds + 1) if seed is None else (seed,)
    wanted = Wanted(
        scale=scale_by_name(scale), rows=rows, seeds=tuple(numbers), changes=dict(changes)
    )
    todo = jobs("table3", TABLE_3, wanted)
    if print_jobs:
        for job in todo:
            display.result(as_command(job, output, store, files, changes))
        return
    failed: list[TransduceError] = []
    if not gather:
        from transduce.cli.reproducing import Given, trained_all
        from transduce.cli.training import Wishes

        given = Given(output=output, store=store, files=files)
        failed = trained_all(todo, given, Wishes(quiet=quiet, live=not no_progress))
    table = report(gather or (output,), output, quiet=quiet)
    for line in as_lines(table, as_json=as_json):
        display.result(line)
    if failed:
        click.get_current_context().exit(failed[0].exit_code)


def as_command(
    job: "Job",
    output: Path,
    store: Path | None,
    files: Mapping[str, Path | None],
    changes: Sequence[tuple[str, str]],
) -> str:
    """One row as a command of its own, for a cluster's scheduler."""
    words = ["transduce", "reproduce", job.table, "--scale", job.scale.name, "--rows", job.row]
    words += ["--seed", str(job.seed), "-o", str(output)]
    words += ["--store", str(store)] if store else []
    for name, file in files.items():
        words += [f"--{name.replace('_', '-')}", str(file)] if file else []
    for path, value in changes:
        words += ["--set", f"{path}={value}"]
    return shlex.join(words)


def report(folders: Sequence[Path], output: Path, *, quiet: bool) -> "Table":
    """Every row that is measured by now, written as a page and as data."""
    from transduce.durable import ensure_folder
    from transduce.reproduce.report import write_report
    from transduce.reproduce.result import gathered
    from transduce.reproduce.table3 import table_of

    table = table_of(gathered(folders))
    ensure_folder(output)
    files = write_report(output, table)
    if not quiet:
        display.tell(f"the report: {', '.join(map(str, files))}")
    return table


def as_lines(table: "Table", *, as_json: bool) -> list[str]:
    """The table and what the paper found in it, for people or for programs."""
    from transduce.reproduce.findings import findings
    from transduce.reproduce.report import as_object, how
    from transduce.reproduce.table3 import cells

    if as_json:
        return [json.dumps(as_object(table), ensure_ascii=False)]
    found = findings(table)
    lines = [f"Table 3 at the scale {table.scale}", *how(table), "", *display.columns(cells(table))]
    return [*lines, "", *display.columns(found)] if len(found) > 1 else lines
