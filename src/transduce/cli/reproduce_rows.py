"""Options, callbacks and printing that `reproduce table2` and `reproduce table3` share."""

import functools
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.cli import display, options
from transduce.cli.file_path import FilePath
from transduce.cli.inputs import (
    PARALLEL_FILES,
    parallel_options,
    read_corpus_options,
    read_text_options,
)
from transduce.errors import TransduceError
from transduce.recipes.scale import SCALES, scale_by_name
from transduce.settings import Data, Recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.reproduce.job import JobSelection, RowJob
    from transduce.reproduce.report import Report
    from transduce.reproduce.request import TableCallbacks, TableKind, TableRequest
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.runs.texts import Pairs

FOLDER = FilePath(path_type=Path)


class Names(click.ParamType):  # type: ignore[type-arg]
    """The parameter type for a list of names separated by commas, such as base,A-h1."""

    name = "row,row,…"

    def convert(self, value: Any, param: object, ctx: object) -> tuple[str, ...]:  # noqa: ANN401, ARG002
        """Split a comma-separated list into its names, without repetitions."""
        if isinstance(value, tuple):
            return value
        return tuple(dict.fromkeys(filter(None, (name.strip() for name in value.split(",")))))


@final
@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """The values of the options that `reproduce table2` and `reproduce table3` share."""

    scale: str
    rows: tuple[str, ...]
    seeds: int
    seed: int | None
    store: Path | None
    output: Path
    gather: Sequence[Path]
    print_jobs: bool
    changes: Sequence[tuple[str, str]]
    plot: bool
    as_json: bool
    quiet: bool
    no_progress: bool
    files: Mapping[str, Path | None]

    @property
    def selection(self) -> "JobSelection":
        """The rows, scale, seeds and changed settings that the options name."""
        from transduce.reproduce.job import JobSelection

        require(
            self.seed is None or self.seeds == 1,
            "--seed and --seeds exclude each other",
            "give one",
        )
        seeds = range(1, self.seeds + 1) if self.seed is None else (self.seed,)
        return JobSelection(
            scale=scale_by_name(self.scale),
            rows=self.rows,
            seeds=tuple(seeds),
            changes=dict(self.changes),
        )

    def build_request(self, test: "Pairs | None") -> "TableRequest":
        """Build the request for a table from these options and an optional test set."""
        from transduce.reproduce.request import TableRequest

        named = [name for name, file in self.files.items() if file]
        option = "--" + "".join(named[:1]).replace("_", "-")
        require(
            self.store is None or not named or bool(self.gather),
            f"{option} and --store exclude each other: a store contains all texts",
            "give one of them",
        )
        train, dev = read_corpus_options(self.files)
        return TableRequest(
            output=self.output,
            selection=self.selection,
            train=train,
            dev=dev,
            test=test,
            store=self.store,
            gather=self.gather,
            plot=self.plot,
        )

    def build_callbacks(self) -> "TableCallbacks":
        """Build the functions that prepare corpora, train rows and print messages for a table."""
        from transduce.reproduce.request import TableCallbacks

        return TableCallbacks(
            on_message=(lambda _sentence: None) if self.quiet else display.print_message,
            on_failure=print_failure,
            prepare=functools.partial(prepare_corpus, self),
            train=functools.partial(train_run, self),
        )


plot = click.option("--plot", is_flag=True, help="Also write a picture (needs matplotlib).")


def row_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of table2 and table3 to a command, which gets them as `row_options`."""
    known = {field.name for field in fields(RowOptions)}

    @functools.wraps(command)
    def with_row_options(**given: Any) -> None:  # noqa: ANN401 - one value for each option
        files = {name: given.pop(name) for name in PARALLEL_FILES}
        values = {name: given.pop(name) for name in known & given.keys()}
        command(row_options=RowOptions(files=files, **values), **given)

    for option in reversed(
        (
            click.option(
                "--scale",
                type=click.Choice(list(SCALES)),
                default="laptop",
                show_default=True,
                help="The size of model and corpus; `transduce recipes scales` lists the scales.",
            ),
            click.option(
                "--rows", type=Names(), default="", help="Only these rows, such as base,big."
            ),
            click.option(
                "--seeds",
                type=click.IntRange(1, 1_000),
                default=1,
                help="Number of seeds for each row.",
            ),
            click.option("--seed", type=click.IntRange(min=0), help="The only seed of each row."),
            parallel_options,
            click.option("--store", type=FOLDER, help="A corpus that `transduce prepare` made."),
            click.option(
                "-o",
                "--output",
                type=FOLDER,
                required=True,
                help="The folder of all rows and of the report.",
            ),
            click.option(
                "--gather",
                type=FOLDER,
                multiple=True,
                help="Train nothing: report on the rows in this folder; may be repeated.",
            ),
            click.option(
                "--print-jobs", is_flag=True, help="Train nothing: print a command for each row."
            ),
            options.settings,
            plot,
            options.as_json,
            options.quiet,
            options.no_progress,
        )
    ):
        with_row_options = option(with_row_options)
    return with_row_options


def print_table(
    kind: "TableKind",
    row_options: RowOptions,
    own_options: Mapping[str, object],
    test: "Mapping[str, Path | None] | None" = None,
) -> None:
    """Train a table's rows and print its report, or only print a command for each row.

    `own_options` are the values of options that only this table has, and `test` the test set's
    files.
    """
    from transduce.machine.process_settings import keep_freed_memory
    from transduce.reproduce.job import plan_jobs
    from transduce.reproduce.rows import reproduce_rows

    if row_options.print_jobs:
        for job in plan_jobs(kind.name, kind.recipes, row_options.selection):
            display.print_result(format_command(job, row_options, {**own_options, **(test or {})}))
        return
    keep_freed_memory()
    request = row_options.build_request(read_text_options(test, "test_") if test else None)
    outcome = reproduce_rows(kind, request, row_options.build_callbacks())
    for fault in outcome.unreadable:
        display.print_message(f"error: {fault.fact}")
    for hint in dict.fromkeys(fault.hint for fault in outcome.unreadable):
        display.print_message(f"hint: {hint}")
    if outcome.report is not None:
        for line in format_report(outcome.report, as_json=row_options.as_json):
            display.print_result(line)
    if outcome.errors:
        click.get_current_context().exit(outcome.errors[0].exit_code)


def format_command(
    job: "RowJob", row_options: RowOptions, own_options: Mapping[str, object]
) -> str:
    """Return the shell command that trains one row, for example on a machine of a cluster."""
    words = ["transduce", "reproduce", job.table, "--scale", job.scale.name, "--rows", job.row]
    words += ["--seed", str(job.seed), "-o", str(row_options.output)]
    for name, value in {**own_options, "store": row_options.store, **row_options.files}.items():
        words += [f"--{name.replace('_', '-')}", str(value)] if value else []
    if row_options.no_progress:
        words.append("--no-progress")
    for path, value in row_options.changes:
        words += ["--set", f"{path}={value}"]
    return shlex.join(words)


def print_failure(row: str, fault: TransduceError) -> None:
    """Print why a row failed, with the hint if there is one."""
    display.print_message(f"error: {row}: {fault.fact}")
    if fault.hint:
        display.print_message(f"hint: {fault.hint}")


def prepare_corpus(
    row_options: RowOptions, folder: Path, data: Data, train: "Pairs", dev: "Pairs | None"
) -> "PreparedCorpus":
    """Return the prepared corpus in a folder; if it is not there yet, prepare it and say so."""
    from transduce.cli.prepare import describe_corpus
    from transduce.runs.prepared_corpus import prepare_corpus

    is_new = not (folder / "train").is_dir()
    with display.show_pair_count(live=not row_options.quiet) as on_progress:
        prepared = prepare_corpus(folder, data, train, dev, on_progress)
    for line in describe_corpus(prepared) if is_new and not row_options.quiet else ():
        display.print_message(line)
    return prepared


def train_run(
    row_options: RowOptions, folder: Path, recipe: Recipe, prepared: "PreparedCorpus"
) -> None:
    """Train one row of a table and display its progress; exit if a signal stopped the training."""
    from transduce.cli.train import exit_if_stopped, train_with_display
    from transduce.cli.training import DisplayOptions

    wanted = DisplayOptions(quiet=row_options.quiet, live=not row_options.no_progress)
    exit_if_stopped(train_with_display(folder, recipe, prepared, wanted))


def format_report(report: "Report", *, as_json: bool) -> list[str]:
    """Format a table's report as lines of text tables, or as JSON."""
    if as_json:
        return [json.dumps(report.as_json(), ensure_ascii=False)]
    lines = [report.title, *report.conditions]
    for heading, remark, cells in report.filled_parts:
        lines += ["", heading, remark, *display.align_columns(cells)]
    return lines
