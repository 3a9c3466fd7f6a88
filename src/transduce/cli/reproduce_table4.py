"""`transduce reproduce table4`: train a parser; compare its F1 with baselines and Table 4."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from transduce.cli import display, options, signals
from transduce.cli.file_path import FilePath
from transduce.cli.inputs import read_corpus_options, tree_options
from transduce.cli.training import DisplayOptions, build_callbacks, open_display
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes


@click.command("table4")
@click.argument("recipe", type=options.RecipeName(), default="table4/wsj")
@tree_options
@click.option(
    "--test-trees",
    type=FilePath(path_type=Path),
    help="Trees to test on; else the recipe's corpus, or section 23 of a Penn Treebank folder.",
)
@click.option("--model", type=FilePath(path_type=Path), help="A parser: nothing is trained.")
@click.option("--no-baselines", is_flag=True, help="Do not parse with the baselines.")
@click.option(
    "-o",
    "--output",
    type=FilePath(path_type=Path),
    required=True,
    help="A folder for the run, the model and the report.",
)
@options.settings
@options.as_json
@options.quiet
def table4(  # noqa: PLR0913 - one for each option
    *,
    recipe: Recipe,
    test_trees: Path | None,
    model: Path | None,
    no_baselines: bool,
    output: Path,
    changes: Sequence[tuple[str, str]],
    as_json: bool,
    quiet: bool,
    **files: Path | float | None,
) -> None:
    """Train RECIPE as a parser, score it on test trees, and print the score with Table 4.

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
    signals.import_with_signals_deferred("transduce.runs.training_run")
    from transduce.reproduce.table4_report import build_json, format_table
    from transduce.reproduce.tables import table4 as build_table4

    train, dev = read_corpus_options(files)
    steps = with_changes(recipe, dict(changes)).training.steps
    wanted = DisplayOptions(quiet=quiet, live=False)
    with signals.ending_signals_as_interrupts(), open_display(steps, wanted) as observer:
        table = build_table4(
            output,
            recipe=recipe,
            train=train,
            dev=dev,
            test=test_trees,
            model=model,
            settings=dict(changes),
            baselines=not no_baselines,
            on_message=display.print_note,
            callbacks=build_callbacks(observer),
        )
    if as_json:
        display.print_result(json.dumps(build_json(table), ensure_ascii=False))
        return
    display.print_result(format_table(table))
