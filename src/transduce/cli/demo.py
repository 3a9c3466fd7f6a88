"""`transduce demo`: train a small Transformer on generated German in minutes, and evaluate it."""

import json
import os.path
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options, signals
from transduce.machine.process_settings import keep_freed_memory
from transduce.recipes.choice import customise_recipe

if TYPE_CHECKING:
    from transduce.inference.demo import SplitEvaluation
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.settings import Data

LINES = 500  # evaluated in each split
SENTENCES = 4  # printed of each split


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("transduce-demo"))
@options.settings
@options.as_json
@options.no_progress
def command(
    *, folder: Path, changes: Sequence[tuple[str, str]], as_json: bool, no_progress: bool
) -> None:
    """Watch a small Transformer learn German from nothing, and see how good it is.

    The corpus is a grammar that comes with transduce. About 4 minutes on 2 cores. Everything is
    kept in FOLDER (by default transduce-demo); the same command resumes where it was stopped.
    """
    signals.ignore_checkpoint_signal()
    signals.import_with_signals_deferred("transduce.runs.training_run")
    from transduce.cli.train import exit_if_stopped, train_with_display
    from transduce.cli.training import DisplayOptions
    from transduce.inference.demo import evaluate_splits
    from transduce.inference.evaluate import provenance
    from transduce.inference.load import load
    from transduce.recipes import by_name
    from transduce.runs.average import average
    from transduce.runs.output_folder import locked_folder
    from transduce.runs.prepared_corpus import STORE
    from transduce.runs.run_folder import require_run_folder

    keep_freed_memory()
    run = folder / "run"
    recipe = customise_recipe(by_name("demo"), dict(changes))
    require_run_folder(run)
    with locked_folder(run):
        prepared = prepare_demo_corpus(run / STORE, recipe.data, live=not no_progress)
        wanted = DisplayOptions(live=not no_progress)
        exit_if_stopped(train_with_display(run, recipe, prepared, wanted))
        model = average(run).folder
    display.tell("translating sentences that it never saw …")
    translator = load(model)
    for split in evaluate_splits(translator, LINES):
        for line in (
            [encode_split(split, provenance(translator))] if as_json else format_split(split)
        ):
            display.result(line)
    for line in suggest_next_steps(model):
        display.tell(line)


def prepare_demo_corpus(folder: Path, data: "Data", *, live: bool) -> "PreparedCorpus":
    """Prepare the demo's corpus in a folder, or open it if it is prepared."""
    from transduce.runs.choice import choose_texts
    from transduce.runs.prepared_corpus import prepare_corpus

    if not (folder / "train").is_dir():
        display.tell("preparing a corpus of sentences that a grammar makes up …")
    train, dev = choose_texts(data, None, None)
    with display.counting(shown=live) as on_progress:
        return prepare_corpus(folder, data, train, dev, on_progress)


def format_split(split: "SplitEvaluation") -> list[str]:
    """Format a split's score, an untrained model's score, and some translations as lines."""
    from transduce.inference.demo import choose_examples

    lines = ["", f"{split.about}:"]
    lines += [f"  BLEU {split.score.value:.1f}, untrained {split.untrained.value:.1f}"]
    lines += [f"  {split.score.lines} lines, {split.score.signature}"]
    for source, output, reference in choose_examples(split, SENTENCES):
        mark = "✓" if output == reference else "✗"
        lines += [f"    {source}", f"  {mark} {output}"]
        lines += [] if output == reference else [f"    {reference}  (the reference)"]
    return lines


def encode_split(split: "SplitEvaluation", about: Mapping[str, object]) -> str:
    """Encode the scores of a split and their provenance as a line of JSON."""
    scores = {"scores": [split.score.as_json()], "untrained": split.untrained.as_json()}
    return json.dumps({"split": split.about, **scores, **about}, ensure_ascii=False)


def suggest_next_steps(model: Path) -> list[str]:
    """Return lines that name the model folder and suggest three commands to try."""
    transduce = find_program()
    return [
        "",
        f"the model: {model} (its card: {model / 'README.md'})",
        f"try: echo 'She bought a small cup.' | {transduce} translate {model}",
        f"your own languages: {transduce} train --source a.en --target a.de -o run",
        f"the paper's settings: {transduce} recipes show table2/base-en-de",
    ]


def find_program() -> str:
    """Return how to call `transduce` in this shell: by its path if it is not on the PATH."""
    program = Path(sys.argv[0])
    if program.name != "transduce" or shutil.which("transduce"):
        return "transduce"
    return os.path.relpath(program)
