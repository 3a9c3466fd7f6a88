"""transduce demo: watch a Transformer learn German, in minutes."""

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

LINES = 500  # of each split
SENTENCES = 4  # of each split, to read


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
    kept in FOLDER (transduce-demo if unsaid); the same command goes on where it was stopped.
    """
    signals.ignore_checkpoint_signal()
    signals.import_with_signals_deferred("transduce.runs.run_folder")
    from transduce.cli.train import trained
    from transduce.cli.training import Wishes
    from transduce.inference.demo import evaluate_splits
    from transduce.inference.evaluate import provenance
    from transduce.inference.load import load
    from transduce.recipes import by_name
    from transduce.runs.average import average_beside
    from transduce.runs.output_folder import locked_folder
    from transduce.runs.prepared_corpus import STORE
    from transduce.runs.run_folder import require_run_folder

    keep_freed_memory()
    run = folder / "run"
    recipe = customise_recipe(by_name("demo"), dict(changes))
    require_run_folder(run)
    with locked_folder(run):
        prepared = prepared_in(run / STORE, recipe.data, live=not no_progress)
        code = trained(run, recipe, prepared, Wishes(live=not no_progress))
        if code:
            sys.exit(code)
        model = average_beside(run).folder
    display.tell("translating sentences that it never saw …")
    translator = load(model)
    for split in evaluate_splits(translator, LINES):
        for line in [as_object(split, provenance(translator))] if as_json else told(split):
            display.result(line)
    for line in what_next(model):
        display.tell(line)


def prepared_in(folder: Path, data: "Data", *, live: bool) -> "PreparedCorpus":
    """The corpus, made anew if it does not stand, with a word about the wait."""
    from transduce.runs.choice import choose_texts
    from transduce.runs.prepared_corpus import prepare_corpus

    if not (folder / "train").is_dir():
        display.tell("preparing a corpus of sentences that a grammar makes up …")
    train, dev = choose_texts(data, None, None)
    with display.counting(shown=live) as counted:
        return prepare_corpus(folder, data, train, dev, counted)


def told(split: "SplitEvaluation") -> list[str]:
    """The score beside an untrained model's, and some sentences."""
    from transduce.inference.demo import choose_examples

    lines = ["", f"{split.about}:"]
    lines += [f"  BLEU {split.score.value:.1f}, untrained {split.untrained.value:.1f}"]
    lines += [f"  {split.score.lines} lines, {split.score.signature}"]
    for source, output, reference in choose_examples(split, SENTENCES):
        mark = "✓" if output == reference else "✗"
        lines += [f"    {source}", f"  {mark} {output}"]
        lines += [] if output == reference else [f"    {reference}  (the reference)"]
    return lines


def as_object(split: "SplitEvaluation", about: Mapping[str, object]) -> str:
    """For programs."""
    scores = {"scores": [split.score.as_json()], "untrained": split.untrained.as_json()}
    return json.dumps({"split": split.about, **scores, **about}, ensure_ascii=False)


def what_next(model: Path) -> list[str]:
    """Where the model lies, and three things to try."""
    transduce = as_called()
    return [
        "",
        f"the model: {model} (its card: {model / 'README.md'})",
        f"try: echo 'She bought a small cup.' | {transduce} translate {model}",
        f"your own languages: {transduce} train --source a.en --target a.de -o run",
        f"the paper's settings: {transduce} recipes show table2/base-en-de",
    ]


def as_called() -> str:
    """The command as this shell finds it: by its path, where no folder of the PATH has it."""
    program = Path(sys.argv[0])
    if program.name != "transduce" or shutil.which("transduce"):
        return "transduce"
    return os.path.relpath(program)
