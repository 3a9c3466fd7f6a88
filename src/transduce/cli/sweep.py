"""`transduce sweep`: train a recipe with every combination of some settings, and compare them."""

import shlex
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.cli import display, options, signals
from transduce.cli.inputs import CORPUS, TextOptions
from transduce.cli.options import argument, group, option
from transduce.cli.training import display_training
from transduce.recipes.choice import read_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.training.progress import TrainingCallbacks


@options.make_command("sweep", options.quiet, options.no_progress)
def command(
    *,
    recipe: Recipe | None = argument(required=False),
    texts: TextOptions = group(*CORPUS),
    vary: Sequence[tuple[str, str]] = option(
        "A setting and its values, such as architecture.dropout=0.1,0.2; may be repeated.",
        type=options.Change(),
        multiple=True,
        required=True,
        metavar="SETTING=VALUES",
    ),
    output: Path = options.output_folder(
        "A folder for the prepared corpus and a run for each combination."
    ),
    scale: str | None = options.scale,
    changes: Sequence[tuple[str, str]] = options.settings,
    languages: tuple[str, ...] | None = options.languages,
    as_json: bool = options.as_json,
) -> None:
    """Train RECIPE, or one made for the text, with every combination of some settings.

    The settings and their values are those of --vary. Without RECIPE or development set, pairs are
    held out as in `transduce train`, if there are at least 2,000. Prints the best validation of
    each run, the best run first.
    Settings of the search need no training: each run is trained once, and the mean of its last
    snapshots decodes the development set with every combination of them. Ctrl-C, SIGTERM or a
    closed terminal saves the last finished update and stops; the same command resumes. A run that
    diverges is listed last, and the others are trained all the same.

    \b
    transduce sweep --source a.en --target a.de -o SWEEP --vary architecture.dropout=0.1,0.3
    transduce sweep craft --trees T --dev-trees D -o SWEEP \\
        --vary architecture.dropout=0.1,0.2,0.3 --vary training.learning_rate_factor=0.5,1
    transduce sweep multi30k-en-de -o SWEEP --vary search.beam=1,4,8 --vary search.alpha=0,0.6,1
    """
    signals.ignore_checkpoint_signal()
    from transduce.runs import sweep
    from transduce.runs.text_names import to_language_settings

    recipe, named_texts = read_recipe(recipe, scale), (texts.read_train(), texts.find_text("dev_"))
    chosen = {path: [value.strip() for value in text.split(",")] for path, text in vary}
    require(len(chosen) == len(vary), "--vary names a setting twice", "all values after one name")
    with display.show_pair_count() as on_progress:
        settings = {**dict(changes), **to_language_settings(languages)}
        start, combinations = sweep.prepare_sweep(
            output, named_texts, recipe, settings, chosen, on_progress, display.print_note
        )
    with signals.ending_signals_as_interrupts():
        rows = sweep.train_combinations(output, start, combinations, display_combination)
    if as_json:
        for row in rows:
            display.print_json(row.as_json())
        return
    display.print_result(sweep.format_rows(rows))
    if chance := sweep.warn_of_chance(rows):
        display.print_note(f"note: {chance}")
    if rows[0].model is not None:
        _, search = sweep.split_search(rows[0].settings)
        best = " ".join(f"{path}={value}" for path, value in search.items())
        equal = sum(row.score == rows[0].score for row in rows[1:])
        tie = f"; {equal} of the other combinations score the same" if equal else ""
        display.print_note(f"hint: {rows[0].model} decodes best with {best}{tie}")
    elif not rows[0].failure:
        display.print_note(f"hint: transduce average {shlex.quote(str(rows[0].run))} -o MODEL")


def display_combination(title: str, recipe: Recipe) -> "AbstractContextManager[TrainingCallbacks]":
    """Print a run's title; return a context manager that yields callbacks to display the run."""
    display.print_note(title)
    return display_training(recipe)
