"""`transduce sweep`: train a recipe with every combination of some settings, and compare them."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from transduce.cli import display, options
from transduce.cli.inputs import corpus_options, read_corpus_options
from transduce.settings import Recipe
from transduce.settings.fields import require


@click.command("sweep")
@click.argument("recipe", type=options.RecipeName())
@corpus_options
@click.option(
    "--vary",
    type=options.Change(),
    multiple=True,
    required=True,
    help="A setting and its values, such as architecture.dropout=0.1,0.2; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="A folder for the prepared corpus and a run for each combination.",
)
@options.settings
@options.as_json
@options.quiet
def command(
    *,
    recipe: Recipe,
    vary: Sequence[tuple[str, str]],
    output: Path,
    changes: Sequence[tuple[str, str]],
    as_json: bool,
    quiet: bool,
    **files: Path | float | None,
) -> None:
    """Train RECIPE with every combination of some settings, and compare them.

    The settings and their values are those of --vary. Prints the best validation of each run, the
    best run first. The same command again resumes where it was stopped.

    \b
    transduce sweep craft --trees T --dev-trees D -o SWEEP \\
        --vary architecture.dropout=0.1,0.2,0.3 --vary training.learning_rate_factor=0.5,1
    """
    from transduce.runs.sweep import format_rows, sweep
    from transduce.training.callbacks import TrainingCallbacks

    train, dev = read_corpus_options(files)
    chosen = {path: [value.strip() for value in text.split(",")] for path, text in vary}
    require(len(chosen) == len(vary), "--vary names a setting twice", "all values after one name")
    callbacks = None if quiet else TrainingCallbacks(on_message=display.print_message)
    rows = sweep(
        output,
        train,
        dev,
        recipe=recipe,
        vary=chosen,
        settings=dict(changes),
        callbacks=callbacks,
    )
    if as_json:
        for row in rows:
            display.print_result(json.dumps(row.as_json(), ensure_ascii=False))
        return
    display.print_result(format_rows(rows))
