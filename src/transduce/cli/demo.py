"""`transduce demo`: train a small Transformer on generated German in minutes, and evaluate it."""

import os.path
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transduce.cli import display, options, signals
from transduce.cli.options import argument
from transduce.durable.files import require_folder
from transduce.durable.folder import require_harmless_output
from transduce.errors import InputError
from transduce.machine.process_settings import keep_freed_memory
from transduce.recipes import by_name, difference
from transduce.recipes.choice import customise_recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.demo import SplitEvaluation
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.settings import Data, Recipe

LINES_TO_EVALUATE = 500  # lines to evaluate in each split
SCHEDULE = ("training.warmup", "training.learning_rate_factor")  # adapted to fewer steps
SENTENCES = 4  # translations to print for each split


@options.make_command("demo", options.no_progress)
def command(
    *,
    folder: Path | None = argument(required=False),
    output: Path | None = options.output_folder("The same as FOLDER.", required=False),
    changes: Sequence[tuple[str, str]] = options.settings,
    as_json: bool = options.as_json,
) -> None:
    """Train a small translator from English to German, and show how good it is.

    The sentences come with transduce; a grammar wrote them. Takes 4 to 8 minutes on 2 cores; a
    shorter try, in another folder: transduce demo -o try --set training.steps=300. Fewer steps have
    a shorter warm-up to the same highest learning rate, unless --set sets one of them. All
    files are in FOLDER (default: transduce-demo), among them explainer.html, a page in which the
    model runs. The same command again resumes training from the last checkpoint.
    """
    require(folder is None or output is None, "FOLDER and -o name the folder twice", "give one")
    folder = folder or output or Path("transduce-demo")
    if folder.exists():
        require_folder(folder, "choose another name")
    require_harmless_output(folder / "run")
    recipe = choose_recipe(dict(changes), folder / "run")
    display.print_note(*describe_schedule(recipe, dict(changes)))
    signals.ignore_checkpoint_signal()
    from transduce.cli.train import train_with_display
    from transduce.durable.lock import create_and_lock_folder
    from transduce.inference.average import average
    from transduce.inference.demo import evaluate_splits
    from transduce.inference.evaluate import provenance
    from transduce.inference.load import load
    from transduce.runs.prepared_corpus import STORE
    from transduce.runs.training_run import require_run_folder

    keep_freed_memory()
    run = folder / "run"
    require_run_folder(run)
    with create_and_lock_folder(run):
        train_with_display(
            run, recipe, prepare_demo_corpus(run / STORE, recipe.data), measure_duration=True
        )
        model = average(run).folder
    display.print_message("translating held-out sentences …")
    translator = load(model)
    for split in evaluate_splits(translator, LINES_TO_EVALUATE):
        values = {
            "split": split.about,
            "scores": [split.score.as_json()],
            "untrained": split.untrained.as_json(),
            **provenance(translator),
        }
        display.print_found(values, format_split(split), as_json=as_json)
    finish(model, folder)


def choose_recipe(changes: Mapping[str, str], run: Path) -> "Recipe":
    """Return the demo's recipe with changes; fewer steps shorten its warm-up in proportion.

    The learning rate keeps its peak, a begun `run` its schedule. A warm-up or learning-rate factor
    in `changes` is taken as it is. A change of the text is refused, because the scores are those
    of the demo's own text.
    """
    from transduce.checkpoint.run_file import is_run, read_run

    usual = by_name("demo")
    found = customise_recipe(usual, changes)
    for name in ("task", "corpus", "source_language", "target_language"):
        wanted, given = getattr(usual.data, name), getattr(found.data, name)
        fact = f"data.{name} is {wanted} in the demo, which has its own text, and not {given}"
        require(given == wanted, fact, "`transduce train` trains on other texts")
    if {"training.warmup", "training.learning_rate_factor"}.intersection(changes):
        return found
    share = min(1.0, found.training.steps / usual.training.steps)
    warmup = max(1, round(share * usual.training.warmup))
    factor = round((warmup / usual.training.warmup) ** 0.5, 4)
    if is_run(run):
        begun = read_run(run).recipe.training
        warmup, factor = begun.warmup, begun.learning_rate_factor
    schedule = dict(zip(SCHEDULE, (warmup, factor), strict=True))
    known = found.flat_settings()
    other = {path: value for path, value in schedule.items() if value != known[path]}
    return customise_recipe(usual, {**changes, **other}) if other else found


def describe_schedule(recipe: "Recipe", changes: Mapping[str, str]) -> list[str]:
    """Return [a line on the settings that `choose_recipe` adapted], or [] if it adapted none."""
    adapted = [
        f"{path} is {value:g} (not {usual:g})"
        for path, usual, value in difference(by_name("demo"), recipe)
        if path in SCHEDULE and path not in changes
    ]
    return [f"so that a short training learns, {' and '.join(adapted)}"] if adapted else []


def prepare_demo_corpus(folder: Path, data: "Data") -> "PreparedCorpus":
    """Prepare the demo's corpus in a folder, or open it if it is prepared already."""
    from transduce.runs.choice import choose_texts
    from transduce.runs.prepared_corpus import prepare_corpus

    if not (folder / "train").is_dir():
        display.print_message("preparing a corpus of generated sentences …")
    train, dev = choose_texts(data, None, None)
    with display.show_pair_count() as on_progress:
        return prepare_corpus(folder, data, train, dev, on_progress)


def format_split(split: "SplitEvaluation") -> list[str]:
    """Return lines: a test split's BLEU after and before training, and some translations."""
    from transduce.inference.demo import choose_examples

    lines = ["", f"{split.about}:"]
    lines += [f"  BLEU {split.score.value:.1f}, untrained {split.untrained.value:.1f}"]
    lines += [f"  {split.score.lines} lines, {split.score.signature}"]
    for source, output, reference in choose_examples(split, SENTENCES):
        mark = "✓" if output == reference else "✗"
        lines += [f"    {source}", f"  {mark} {output}"]
        lines += [] if output == reference else [f"    {reference}  (the reference)"]
    return lines


def suggest_next_steps(model: Path) -> list[str]:
    """Return lines that name the model folder and suggest three commands to try."""
    transduce, program = "transduce", Path(sys.argv[0])
    if program.name == transduce and not shutil.which(transduce):
        transduce = os.path.relpath(program)
    return [
        "",
        f"the model: {model} (its card: {model / 'README.md'})",
        f"try: echo 'She bought a small cup.' | {transduce} translate {model}",
        f"your own languages: {transduce} train --source a.en --target a.de -o run",
        f"the paper's settings: {transduce} recipes show table2/base-en-de",
    ]


def finish(model: Path, folder: Path) -> None:
    """Print what to try next; write the page in which the run's model computes step by step.

    If the model is too large or otherwise unfit for a page, none is written, and a line says why.
    """
    from transduce.view.explainer.explain import explain

    for line in [*suggest_next_steps(model), "writing a page in which the model runs …"]:
        display.print_message(line)
    page = folder / "explainer.html"
    try:
        explain(folder / "run").write_page(page)
        display.print_message(f"follow it step by step, in a browser: {page}")
    except InputError as refused:
        display.print_message(f"no page to follow it step by step: {refused.fact}")
