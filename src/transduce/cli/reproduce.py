"""`transduce reproduce`: a subcommand for each of the paper's tables, and one for other claims."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.cli import display, options, signals
from transduce.cli.inputs import PARALLEL, TEST, TREES, TextOptions
from transduce.cli.options import argument, flag, format_options, group, option
from transduce.cli.outcome import Commands
from transduce.cli.training import display_training
from transduce.errors import InputError
from transduce.machine.process_settings import keep_freed_memory, use_threads
from transduce.recipes.scale import SCALES, scale_by_name
from transduce.recipes.tables import TABLE_2_ROWS
from transduce.settings import Data, Recipe
from transduce.settings.fields import require
from transduce.settings.recipe import with_changes

if TYPE_CHECKING:
    from transduce.reproduce.job import RowJob, TableRequest
    from transduce.reproduce.report import Report
    from transduce.reproduce.rows import TableCallbacks, TableKind
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.runs.texts import Pairs

PLOT_HELP = "Also write a picture (needs matplotlib)."


def read_names(value: str) -> tuple[str, ...]:
    """Return the names in a comma-separated text, each once; raise InputError if there is none."""
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in value.split(",")))))
    require(bool(names), f"{value!r} names nothing", "without the option, all are measured")
    return names


def read_sizes(value: str) -> tuple[int, ...]:
    """Return a comma-separated list's different sizes in ascending order; refuse any other text."""
    try:
        return tuple(sorted({int(part) for part in value.split(",")}))
    except ValueError:
        raise InputError(f"{value!r} is no list of sizes", "64,128,256") from None


NAMES: dict[str, Any] = {"type": read_names, "metavar": "ROW,ROW,…"}
SIZES: dict[str, Any] = {"type": read_sizes, "metavar": "SIZE,SIZE,…"}


@click.group("reproduce", cls=Commands, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Measure a table or claims of the paper, and print them beside the paper's."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)
    display.print_logged_warnings("matplotlib")


@options.make_command("table1", options.quiet, group=command)
def table1(
    *,
    n: tuple[int, ...] | None = option("Lengths of the sentence (default: 64 to 2048).", **SIZES),
    d: tuple[int, ...] | None = option("Widths of the layer (default: 64 to 1024).", **SIZES),
    k: int | None = option("Width of the convolutions (default: 3)."),
    r: int | None = option("Neighbourhood of restricted self-attention (default: 17)."),
    rounds: int | None = option(
        "How often each layer is timed (default: 7).", type=click.IntRange(1, 10_000)
    ),
    quick: bool = flag("Small sizes and few rounds: takes seconds, not a minute."),
    threads: int = option(
        "Number of torch threads. With one, thread start-up does not distort how time grows with "
        "size.",
        type=click.IntRange(1, 1_024),
        default=1,
        show_default=True,
    ),
    output: Path | None = options.output_folder(
        "A folder for the table as Markdown, CSV and JSON.", required=False
    ),
    plot: bool = flag(PLOT_HELP),
    as_json: bool = options.as_json,
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
    from transduce.reproduce import table1 as measure_table1
    from transduce.reproduce.layer_costs import report
    from transduce.reproduce.layer_costs.measure import QUICK, MeasurementPlan

    given: dict[str, Any] = {"n": n, "d": d, "k": k, "r": r, "rounds": rounds}
    given = {name: value for name, value in given.items() if value is not None}
    plan = replace(QUICK if quick else MeasurementPlan(), **given)
    use_threads(threads)
    table = measure_table1(plan, output=output, plot=plot, on_message=display.print_note)
    if as_json:
        display.print_json(report.build_json(table))
    else:
        display.print_result(*report.describe_conditions(table))
        for title, cells in report.build_sections(table):
            display.print_result("", title, *display.align_columns(cells))
        display.print_result("", *report.describe_findings(table))
    if output:
        display.print_note(f"the report: {output}")


@final
@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """The options that `reproduce table2` and `reproduce table3` share, except those for texts."""

    scale: str = option(
        "The size of model and corpus; `transduce recipes scales` lists the scales.",
        type=click.Choice(list(SCALES)),
        default="laptop",
        show_default=True,
    )
    rows: tuple[str, ...] | None = option("Only these rows, such as base,big.", **NAMES)
    seeds: int = option("Number of seeds for each row.", type=click.IntRange(1, 1_000), default=1)
    seed: int | None = option(
        "Train each row from this one seed (excludes --seeds).", type=click.IntRange(min=0)
    )
    store: Path | None = option("A corpus that `transduce prepare` made.")
    output: Path = option(
        "The folder of all rows and of the report.", "-o", "--output", required=True
    )
    gather: tuple[Path, ...] = option(
        "Train nothing: report on the rows in this folder; may be repeated.", multiple=True
    )
    print_jobs: bool = flag("Train nothing: print a command for each row.")
    changes: tuple[tuple[str, str], ...] = options.settings
    plot: bool = flag(PLOT_HELP)
    as_json: bool = options.as_json


@options.make_command("table2", options.quiet, options.no_progress, group=command)
def table2(
    *,
    pair: str = option(
        "The languages, source first.",
        type=click.Choice(list(TABLE_2_ROWS)),
        default="en-de",
        show_default=True,
    ),
    rows: RowOptions = group(),
    texts: TextOptions = group(*PARALLEL, *TEST),
) -> None:
    """Train the rows of Table 2, and compare BLEU and cost with the paper's.

    The rows are base, big, and base with recurrent, convolution or separable layers instead of
    self-attention. Those three train on base's data until their cost equals base's.
    Each row's last snapshots are averaged, and the result is scored on the given test set (by
    default the corpus's). Run the same command again to resume. Several processes or machines can
    share the rows, as with table3.

    \b
    transduce reproduce table2 --scale toy -o table2-toy
    transduce reproduce table2 --rows base,recurrent --seeds 3 -o table2 --plot
    transduce reproduce table2 --pair en-fr --print-jobs -o table2-french > jobs
    """
    signals.ignore_checkpoint_signal()
    from transduce.reproduce.tables import build_table2

    reproduce(build_table2(pair), rows, texts, "--pair", pair)


@options.make_command("table3", options.quiet, options.no_progress, group=command)
def table3(
    *,
    rows: RowOptions = group(),
    texts: TextOptions = group(*PARALLEL),
) -> None:
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
    from transduce.reproduce.tables import build_table3

    reproduce(build_table3(), rows, texts)


def build_request(rows: RowOptions, texts: TextOptions) -> "TableRequest":
    """Return the request for a table; refuse --seed with --seeds, and any text with --gather."""
    from transduce.reproduce.job import TableRequest

    fact = "--seed and --seeds exclude each other"
    require(rows.seed is None or rows.seeds == 1, fact, "give one")
    if rows.gather:
        unused = {*vars(texts), *vars(rows)} - {"output", "gather", "plot", "as_json"}
        options.refuse_given(unused, "is for training, and --gather trains nothing")
    else:
        texts.require_no_text(rows.store)
    return TableRequest(
        output=rows.output,
        scale=scale_by_name(rows.scale),
        rows=rows.rows or (),
        seeds=tuple(range(1, rows.seeds + 1)) if rows.seed is None else (rows.seed,),
        changes=dict(rows.changes),
        train=texts.read_train(),
        dev=texts.find_text("dev_"),
        test=texts.find_text("test_"),
        store=rows.store,
        gather=rows.gather,
        plot=rows.plot,
    )


def reproduce(kind: "TableKind", rows: RowOptions, texts: TextOptions, *own: str) -> None:
    """Train a table's rows and print its report, or only each row's command; exit if a row fails.

    With --gather nothing is trained, and the report is on rows trained before. `own` are
    command-line words for the options that only this table has.
    """
    from transduce.reproduce.job import plan_jobs
    from transduce.reproduce.rows import reproduce_rows

    if rows.print_jobs:
        fact = "is for the report, which --print-jobs does not write"
        options.refuse_given({"gather", "plot", "as_json"}, fact)
    request = build_request(rows, texts)
    if rows.print_jobs:
        given = [*own, *format_options(texts, *TEST), *format_options(rows, "store")]
        given += format_options(texts, *PARALLEL)
        for job in plan_jobs(kind.name, kind.recipes, request):
            display.print_result(format_command(job, rows, given))
        return
    keep_freed_memory()
    outcome = reproduce_rows(kind, request, build_table_callbacks())
    for fault in outcome.unreadable:
        display.print_error(fault.fact)
    for hint in dict.fromkeys(fault.hint for fault in outcome.unreadable):
        display.print_message(f"hint: {hint}")
    if outcome.report is not None:
        print_report(outcome.report, as_json=rows.as_json)
    if outcome.errors:
        click.get_current_context().exit(outcome.errors[0].exit_code)


def build_table_callbacks() -> "TableCallbacks":
    """Return callbacks that print messages, prepare the corpus, and train rows with a display."""
    from transduce.cli.train import train_with_display
    from transduce.reproduce.rows import TableCallbacks

    return TableCallbacks(
        on_message=display.print_note,
        on_failure=lambda row, fault: display.print_error(f"{row}: {fault.fact}", fault.hint),
        prepare=prepare_with_display,
        train=train_with_display,
    )


def format_command(job: "RowJob", rows: RowOptions, given: Sequence[str]) -> str:
    """Return the shell command that trains one row; `given` are its words for texts and store."""
    words = ["transduce", "reproduce", job.table, "--scale", job.scale.name, "--rows", job.row]
    words += ["--seed", str(job.seed), "-o", str(rows.output), *given]
    words += [] if display.is_live() or display.is_quiet() else ["--no-progress"]
    for path, value in rows.changes:
        words += ["--set", f"{path}={value}"]
    return shlex.join(words)


def prepare_with_display(
    folder: Path, data: Data, train: "Pairs", dev: "Pairs | None"
) -> "PreparedCorpus":
    """Return the prepared corpus in a folder; if it is missing, prepare it and print its counts."""
    from transduce.cli.prepare import describe_corpus
    from transduce.runs.prepared_corpus import prepare_corpus

    is_new = not (folder / "train").is_dir()
    with display.show_pair_count() as on_progress:
        prepared = prepare_corpus(folder, data, train, dev, on_progress)
    display.print_note(*(describe_corpus(prepared) if is_new else ()))
    return prepared


def print_report(report: "Report", *, as_json: bool) -> None:
    """Print a table's report as text tables, or as JSON."""
    if as_json:
        display.print_json(report.as_json())
        return
    display.print_result(report.title, *report.conditions)
    for heading, remark, cells in report.filled_parts:
        display.print_result("", heading, remark, *display.align_columns(cells))


@options.make_command("claims", options.quiet, options.no_progress, group=command)
def claims(
    *,
    only: tuple[str, ...] | None = option("Only these claims, such as heads,positions.", **NAMES),
    seeds: int = option(
        "Number of seeds for each claim.",
        type=click.IntRange(1, 1_000),
        default=3,
        show_default=True,
    ),
    output: Path = options.output_folder("The folder of all rows and of the report."),
    as_json: bool = options.as_json,
) -> None:
    """Measure the paper's claims that are in no table, each with a verdict.

    Costs are counted and timed, small models are trained from several seeds on our own phrasebook,
    and printed numbers are calculated again. A claim "holds" if the 95 % interval of the mean over
    seeds is inside the claimed range, "holds not" if outside, or is "within chance". The same
    command resumes; several processes may share the folder. All take about two hours on two cores.

    \b
    transduce reproduce claims -o claims
    transduce reproduce claims --only arithmetic,restricted -o claims
    """
    signals.ignore_checkpoint_signal()
    from transduce.reproduce import claims as measure_claims

    keep_freed_memory()
    use_threads(1)
    report = measure_claims(output, only=only or (), seeds=seeds, callbacks=build_table_callbacks())
    print_report(report, as_json=as_json)
    if report.errors:
        click.get_current_context().exit(report.errors[0].exit_code)


@options.make_command("table4", options.quiet, group=command)
def table4(
    *,
    recipe: Recipe = argument(default="table4/wsj"),
    texts: TextOptions = group(*TREES),
    test_trees: Path | None = option(
        "Trees to test on (default: section 23 if --trees is a Penn Treebank folder, else the test "
        "set of the recipe's corpus)."
    ),
    model: Path | None = option("Score this trained parser instead of training one."),
    no_baselines: bool = flag("Do not parse with the baselines."),
    output: Path = options.output_folder("A folder for the run, the model and the report."),
    changes: Sequence[tuple[str, str]] = options.settings,
    as_json: bool = options.as_json,
) -> None:
    """Train a parser, and compare its F1 with baselines and the paper's.

    RECIPE is table4/wsj unless another one is named. The table also has baselines without a
    network: a flat tree, right-branching, noun chunks, and a probabilistic grammar over the gold
    part-of-speech tags. Ctrl-C, SIGTERM and a closed terminal stop the training after a checkpoint
    of the last finished update; the same command again resumes. With --model nothing is trained:
    that parser is scored beside the baselines, and --set changes its search.

    \b
    transduce reproduce table4 --trees treebank_3/parsed/mrg/wsj -o table4
    transduce reproduce table4 craft -o table4-craft
    transduce reproduce table4 craft --model parser --set search.beam=21 -o beam21
    """
    signals.ignore_checkpoint_signal()
    from transduce.reproduce.parsing_table import build_json, format_table
    from transduce.reproduce.tables import table4 as build_table4

    changed = with_changes(recipe, dict(changes))
    display_lines = display_training(changed, may_be_live=False)
    with signals.ending_signals_as_interrupts(), display_lines as callbacks:
        table = build_table4(
            output,
            recipe=recipe,
            train=texts.read_train(),
            dev=texts.find_text("dev_"),
            test=test_trees,
            model=model,
            settings=dict(changes),
            baselines=not no_baselines,
            on_message=display.print_note,
            callbacks=callbacks,
        )
    display.print_found(build_json(table), [format_table(table)], as_json=as_json)
