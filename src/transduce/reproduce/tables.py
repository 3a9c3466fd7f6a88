"""Reproduce the tables of the paper by library calls: measure, write, return a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from transduce.errors import InputError
from transduce.recipes.scale import scale_by_name
from transduce.settings.fields import require, require_flag
from transduce.settings.keywords import describe_unknown_keyword
from transduce.text.arguments import (
    describe_value,
    ignore_event,
    read_folder,
    read_path,
    require_names,
)

if TYPE_CHECKING:
    from transduce.reproduce.layer_costs.measure import LayerTable, MeasurementPlan
    from transduce.reproduce.parsing_table import ParsingTable
    from transduce.reproduce.report import Report
    from transduce.reproduce.rows import TableCallbacks, TableKind
    from transduce.runs.choice import Texts
    from transduce.settings import Recipe
    from transduce.settings.recipe import Value
    from transduce.training.progress import TrainingCallbacks


class TableOptions(TypedDict, total=False):
    """Keyword arguments of `table2` and `table3`; all of them are optional."""

    scale: str  # toy, laptop (the default), gpu-minutes, gpu-hour or paper
    rows: Sequence[str]  # names such as base and big; all rows if empty
    seeds: int | Sequence[int]  # the number of seeds, or a list of seeds; 1 by default
    settings: "Mapping[str, Value]"  # settings to change in every row
    train: "Texts"  # the training text; the corpus of the scale by default
    dev: "Texts"  # the development set, on which Table 3 is scored
    store: Path | str  # the folder of a prepared corpus, given instead of `train` and `dev`
    plot: bool  # whether to write plots also (needs matplotlib)
    callbacks: "TableCallbacks"


def table1(
    plan: "MeasurementPlan | None" = None,
    *,
    output: Path | str | None = None,
    plot: bool = False,
    on_message: "Callable[[str], None]" = ignore_event,
) -> "LayerTable":
    """Return Table 1, measured at the sizes in `plan`; with `output`, write its report there."""
    from transduce.reproduce.layer_costs.measure import MeasurementPlan, measure_layers
    from transduce.reproduce.layer_costs.report import plot_table, write_report
    from transduce.runs.plots import require_matplotlib

    chosen = MeasurementPlan() if plan is None else plan
    require_flag("plot", plot)
    fact = f"plan must be a MeasurementPlan, not {describe_value(chosen)}"
    require(isinstance(chosen, MeasurementPlan), fact)
    if plot:
        require_matplotlib()
    measure = partial(measure_layers, chosen, on_message)
    if output is None:
        return measure()
    return write_report(read_path("output", output), measure, plot_table if plot else None)


def table2(
    folder: Path | str,
    *,
    pair: str = "en-de",
    test: "Texts | None" = None,
    **options: "Unpack[TableOptions]",
) -> "Report":
    """Train and measure rows of Table 2 in `folder`; report them with the paper's numbers.

    Rows are scored on `test`, by default the corpus's test set; `train` needs a `test`, too. Rows
    that are measured already are kept; the errors of failed rows are in the report's `errors`.
    """
    return _reproduce(build_table2(pair), folder, options, test)


def table3(folder: Path | str, **options: "Unpack[TableOptions]") -> "Report":
    """Train and measure rows of Table 3 in `folder`; report them with the paper's numbers.

    Results of rows that are measured already are kept; the errors of failed rows are in the
    report's `errors`.
    """
    return _reproduce(build_table3(), folder, options)


def claims(
    folder: Path | str,
    *,
    only: Sequence[str] = (),
    seeds: int | Sequence[int] = 3,
    callbacks: "TableCallbacks | None" = None,
) -> "Report":
    """Measure claims that the paper makes outside its tables; report each with a verdict.

    Values, trained models and the report are in `folder`. `only` names claims; by default all are
    measured. What is measured already is kept; the errors of failed rows are in the report's
    `errors`.
    """
    from transduce.reproduce.paper_claims.run import measure_claims
    from transduce.reproduce.rows import TableCallbacks

    require_names("only", only)
    return measure_claims(
        read_folder(folder), only, list_seeds(seeds), callbacks or TableCallbacks()
    )


def list_seeds(seeds: object) -> tuple[int, ...]:
    """Return seeds 1 to `seeds`, or those given, each once; InputError if one is not whole."""
    if isinstance(seeds, int):
        return tuple(range(1, seeds + 1))
    fact = f"seeds must be a number or whole numbers, not {describe_value(seeds)}"
    listed = list(seeds) if isinstance(seeds, Sequence) else [seeds]
    found = [one for one in listed if type(one) is int and 0 <= one < 2**63]
    require(len(found) == len(listed), fact, "seeds=3, or seeds=[4, 5], each from 0 to 2^63 - 1")
    return tuple(dict.fromkeys(found))


def build_table2(pair: str) -> "TableKind":
    """Return the `TableKind` of Table 2 for a language pair; InputError if the table lacks it."""
    from transduce.recipes.tables import TABLE_2_ROWS
    from transduce.reproduce.rows import TableKind
    from transduce.reproduce.table2_report import build_report

    if pair not in list(TABLE_2_ROWS):  # a list also compares what has no hash
        raise InputError(f"Table 2 has no pair {pair!r}", f"it has {' and '.join(TABLE_2_ROWS)}")
    return TableKind(
        name="table2", recipes=TABLE_2_ROWS[pair], build_report=build_report, has_test_set=True
    )


def build_table3() -> "TableKind":
    """Return the `TableKind` of Table 3."""
    from transduce.recipes.tables import TABLE_3
    from transduce.reproduce.rows import TableKind
    from transduce.reproduce.table3_report import build_report

    return TableKind(name="table3", recipes=TABLE_3, build_report=build_report)


def _reproduce(
    kind: "TableKind", folder: Path | str, options: TableOptions, test: "Texts | None" = None
) -> "Report":
    """Train and measure a table's rows; return the report, or raise the first error if none."""
    from transduce.reproduce.job import TableRequest
    from transduce.reproduce.rows import TableCallbacks, reproduce_rows

    for name in options:
        if name not in TableOptions.__annotations__:
            raise TypeError(describe_unknown_keyword(kind.name, name, TableOptions.__annotations__))
    require_flag("plot", options.get("plot", False))
    require_names("rows", options.get("rows", ()))
    request = TableRequest(
        scale=scale_by_name(options.get("scale", "laptop")),
        rows=tuple(options.get("rows", ())),
        seeds=list_seeds(options.get("seeds", 1)),
        changes=options.get("settings") or {},
        output=read_folder(folder),
        train=options.get("train"),
        dev=options.get("dev"),
        test=test,
        store=None if (store := options.get("store")) is None else read_path("store", store),
        plot=options.get("plot", False),
    )
    outcome = reproduce_rows(kind, request, options.get("callbacks") or TableCallbacks())
    if outcome.report is None:
        raise outcome.errors[0]
    return replace(outcome.report, errors=tuple(outcome.errors))


def table4(  # noqa: PLR0913 - one parameter for each choice of the caller
    folder: Path | str,
    *,
    recipe: "Recipe | str" = "table4/wsj",
    train: "Texts | None" = None,
    dev: "Texts | None" = None,
    test: "Path | str | None" = None,
    model: Path | str | None = None,
    settings: "Mapping[str, Value] | None" = None,
    baselines: bool = True,
    on_message: "Callable[[str], None]" = ignore_event,
    callbacks: "TrainingCallbacks | None" = None,
) -> "ParsingTable":
    """Train a parser, or use `model`; score it and baselines; write Table 4 and return it.

    `train`, `dev` and `test` are files or folders of trees; without them the recipe's fetched
    corpus is used. If `model` is given, that parser is scored, and only baselines are trained;
    `settings` may then change the search alone. A second call with the same folder resumes an
    interrupted training. `on_message` is called with sentences on the progress, `callbacks` with
    the events of the training. Without `callbacks`, the messages of the training go to
    `on_message`.
    """
    from transduce.inference.average import average
    from transduce.inference.load import load
    from transduce.recipes.choice import find_recipe
    from transduce.reproduce.parsing_table import (
        ParsingTable,
        choose_trees,
        load_parser,
        measure_baselines,
        measure_parser,
        require_parsing_table_folder,
        write_report,
    )
    from transduce.runs.train import train as train_run
    from transduce.training.progress import TrainingCallbacks

    require_flag("baselines", baselines)
    folder, chosen = read_folder(folder), find_recipe(recipe)
    test = None if test is None else read_path("test", test)
    needs_training = model is None or baselines
    trees = choose_trees(chosen, train, dev, test, needs_training=needs_training)
    require_parsing_table_folder(folder, trees.train, trees.dev, test)
    trained_on, is_comparable = trees.trained_on, trees.is_comparable
    if model is None:
        run = train_run(
            folder / "run",
            trees.train,
            trees.dev,
            recipe=chosen,
            settings=settings,
            callbacks=callbacks or TrainingCallbacks(on_message=on_message),
        )
        parser = load(average(run).folder)
    else:
        parser = load_parser(model, settings or {})
        corpus = parser.recipe.data.corpus  # what the given parser was trained on
        trained_on, is_comparable = f"{corpus} (its recipe)", is_comparable and corpus == "wsj"
    row, outputs = measure_parser(
        parser,
        trees.gold,
        name=f"Transformer ({parser.recipe.name}), beam {parser.recipe.search.beam}",
        trained_on=trained_on,
        on_message=on_message,
    )
    rows = [row]
    if baselines:
        rows += measure_baselines(trees, on_message)
    table = ParsingTable(tuple(rows), trees.test_set, is_comparable=is_comparable)
    files = write_report(folder, table, outputs)
    on_message(f"the report: {', '.join(map(str, files))}")
    return table
