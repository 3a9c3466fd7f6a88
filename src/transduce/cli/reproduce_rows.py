"""What the tables of trained rows share: their options, their jobs, and how they are printed."""

import functools
import json
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.cli import display, options
from transduce.cli.inputs import FILES, corpus_options
from transduce.errors import TransduceError
from transduce.recipes.scale import SCALES
from transduce.settings import Data, Recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.reproduce.job import RowJob
    from transduce.reproduce.report import Report
    from transduce.reproduce.result import ParallelLines, RowResult
    from transduce.reproduce.table import ResultTable

FOLDER = click.Path(path_type=Path)


class Names(click.ParamType):  # type: ignore[type-arg]
    """Names with commas between: base,A-h1."""

    name = "row,row,…"

    def convert(self, value: Any, param: object, ctx: object) -> tuple[str, ...]:  # noqa: ANN401, ARG002
        """Each name once."""
        if isinstance(value, tuple):
            return value
        return tuple(dict.fromkeys(filter(None, (name.strip() for name in value.split(",")))))


@final
@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the options say that all tables of rows have."""

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

    def plan_jobs(self, table: str, recipes: Mapping[str, Recipe]) -> "list[RowJob]":
        """Every training that is asked for."""
        from transduce.recipes.scale import scale_by_name
        from transduce.reproduce.job import JobSelection, plan_jobs

        require(
            self.seed is None or self.seeds == 1, "--seed and --seeds both name seeds", "leave one"
        )
        seeds = range(1, self.seeds + 1) if self.seed is None else (self.seed,)
        scale = scale_by_name(self.scale)
        changes = dict(self.changes)
        wanted = JobSelection(scale=scale, rows=self.rows, seeds=tuple(seeds), changes=changes)
        return plan_jobs(table, recipes, wanted)


plot = click.option("--plot", is_flag=True, help="A picture in the folder, too (needs matplotlib).")


def of_rows(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a table whose rows are trained, as one value `asked`."""
    known = {field.name for field in fields(Asked)}

    @functools.wraps(command)
    def with_asked(**given: Any) -> None:  # noqa: ANN401 - one for each option
        files = {name: given.pop(name) for name in FILES}
        asked = {name: given.pop(name) for name in known & given.keys()}
        command(asked=Asked(files=files, **asked), **given)

    for option in reversed(
        (
            click.option(
                "--scale",
                type=click.Choice(list(SCALES)),
                default="laptop",
                show_default=True,
                help="How much smaller than the paper.",
            ),
            click.option("--rows", type=Names(), default="", help="Only these, such as base,big."),
            click.option(
                "--seeds", type=click.IntRange(min=1), default=1, help="Each from so many seeds."
            ),
            click.option("--seed", type=click.IntRange(min=0), help="Each from this seed alone."),
            corpus_options,
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
        with_asked = option(with_asked)
    return with_asked


@final
@dataclass(frozen=True, kw_only=True)
class Rows:
    """A table of the paper whose rows are trained."""

    name: str
    recipes: Mapping[str, Recipe]
    report: "Callable[[ResultTable], Report]"
    test: "Callable[[Data], ParallelLines] | None" = None  # the test set; none: the development set
    own: Mapping[str, object]  # options that only this table has

    def reproduce(self, asked: Asked) -> None:
        """Train what is not measured yet, and print all that is."""
        from transduce.reproduce.plot import require_matplotlib
        from transduce.reproduce.report import require_table_folder
        from transduce.reproduce.result import gather_results

        todo = asked.plan_jobs(self.name, self.recipes)
        require_table_folder(asked.output)
        if asked.print_jobs:
            for job in todo:
                display.result(self.as_command(job, asked))
            return
        if asked.plot:
            require_matplotlib()
        try:
            failed = [] if asked.gather else self.train(todo, asked)
        except (SystemExit, KeyboardInterrupt):  # a signal
            self.keep(asked)
            raise
        results, faults = gather_results(asked.gather or (asked.output,))
        failed += told(faults, {fault.fact for fault in failed})
        if results or not failed:
            report = self.written(results, asked)
            for line in as_lines(report, as_json=asked.as_json):
                display.result(line)
        if failed:
            click.get_current_context().exit(failed[0].exit_code)

    def as_command(self, job: "RowJob", asked: Asked) -> str:
        """One row as a command of its own, for a cluster's scheduler."""
        words = ["transduce", "reproduce", self.name, "--scale", job.scale.name, "--rows", job.row]
        words += ["--seed", str(job.seed), "-o", str(asked.output)]
        for name, value in {**self.own, "store": asked.store, **asked.files}.items():
            words += [f"--{name.replace('_', '-')}", str(value)] if value else []
        if asked.no_progress:
            words.append("--no-progress")
        for path, value in asked.changes:
            words += ["--set", f"{path}={value}"]
        return shlex.join(words)

    def train(self, todo: "Sequence[RowJob]", asked: Asked) -> list[TransduceError]:
        """Every row that nobody has measured or holds; what went wrong."""
        from transduce.cli.reproducing import Given, trained_all
        from transduce.cli.training import Wishes

        test = self.test(todo[0].recipe.data) if self.test else None
        given = Given(output=asked.output, store=asked.store, files=asked.files, test=test)
        return trained_all(todo, given, Wishes(quiet=asked.quiet, live=not asked.no_progress))

    def keep(self, asked: Asked) -> None:
        """Write the report of the rows that are over, as the work ends before its time."""
        from transduce.reproduce.result import gather_results

        with suppress(TransduceError):  # the same command says it, when it is not in a hurry
            results, _ = gather_results((asked.output,))
            if results:
                self.written(results, asked)

    def written(self, results: "Sequence[RowResult]", asked: Asked) -> "Report":
        """Every row that is measured by now, as a page, as data and as a picture."""
        from transduce.durable import ensure_folder
        from transduce.reproduce.table import build_table

        report = self.report(build_table(results, self.recipes))
        ensure_folder(asked.output)
        files = report.write(asked.output, plot=asked.plot)
        if not asked.quiet:
            display.tell(f"the report: {', '.join(map(str, files))}")
        return report


def told(faults: Sequence[TransduceError], before: Collection[str]) -> list[TransduceError]:
    """Say of which files there is nothing in the report, but those that were spoken of before."""
    new = [fault for fault in faults if fault.fact not in before]
    for fault in new:
        display.tell(f"error: {fault.fact}")
    for hint in dict.fromkeys(fault.hint for fault in new):
        display.tell(f"hint: {hint}")
    return new


def as_lines(report: "Report", *, as_json: bool) -> list[str]:
    """The tables, for people or for programs."""
    if as_json:
        return [json.dumps(report.as_json(), ensure_ascii=False)]
    lines = [report.title, *report.conditions]
    for heading, remark, cells in report.filled_parts:
        lines += ["", heading, remark, *display.columns(cells)]
    return lines
