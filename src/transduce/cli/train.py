"""transduce train: from a recipe and a parallel text to a run that can be killed at any time."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options, signals, workers
from transduce.cli.inputs import corpus_options, from_files, named_texts
from transduce.cli.tensorboard import shown_too
from transduce.cli.training import View, Wishes, view
from transduce.cli.workers import ProcessOptions
from transduce.errors import InputError
from transduce.machine.process_settings import keep_freed_memory, use_threads
from transduce.recipes.choice import customise_recipe
from transduce.settings import Recipe, Training
from transduce.settings.fields import require
from transduce.training.distributed.rank import ProcessRank

if TYPE_CHECKING:
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.runs.run_folder import RunStart
    from transduce.training.distributed.rendezvous import Rendezvous
    from transduce.training.progress import Progress


@click.command("train")
@click.argument("recipe", type=options.RecipeName(), required=False)
@corpus_options
@click.option(
    "--store", type=click.Path(path_type=Path), help="A corpus that `transduce prepare` made."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The run folder: new, or one to go on with.",
)
@options.scale
@options.settings
@workers.options
@click.option("--tensorboard", is_flag=True, help="Write curves to RUN/tensorboard, too.")
@options.quiet
@options.no_progress
def command(  # noqa: PLR0913 - one for each option
    *,
    recipe: Recipe | None,
    store: Path | None,
    output: Path,
    scale: str | None,
    changes: Sequence[tuple[str, str]],
    processes: ProcessOptions,
    tensorboard: bool,
    quiet: bool,
    no_progress: bool,
    **files: Path | None,
) -> None:
    """Train a model by RECIPE, or by one chosen to fit the text and the machine.

    The same command again goes on from the last save, equal to the bit on the same machine; with
    a higher training.steps it goes on to that step, as if it had been meant to from the start but
    for a snapshot and a look where it ended before.
    Ctrl-C and SIGTERM save the last finished update first; SIGUSR1 saves and goes on. `transduce
    average` makes a model of a run; `transduce translate` takes a run as it stands.

    \b
    transduce train --source a.en --target a.de --dev-source d.en --dev-target d.de -o RUN
    transduce train table3/base --store wmt14 -o RUN --set training.steps=2000
    """
    signals.ignore_checkpoint_signal()
    require(
        scale is None or recipe is not None,
        "--scale makes a recipe smaller, and none was named",
        "transduce train table3/base --scale laptop",
    )
    if processes.is_launcher:
        sys.exit(workers.launch_and_wait(processes))
    signals.die_with_parent(processes.rank.parent)
    signals.import_with_signals_deferred("transduce.runs.run_folder")
    from transduce.checkpoint import is_run
    from transduce.runs.output_folder import locked_folder
    from transduce.runs.run_folder import require_run_folder

    keep_freed_memory()
    with workers.silence_repeated_errors(processes):
        rendezvous = processes.rendezvous()
        if rendezvous is not None and processes.rank.rank:
            sys.exit(workers.train_as_follower(rendezvous, output, store))
        require_run_folder(output)
        with locked_folder(output):
            require(
                recipe is not None or store is None or is_run(output),
                "a corpus alone does not say how to train",
                "name a recipe beside --store: the one that it was prepared with",
            )
            recipe = None if recipe is None else customise_recipe(recipe, {}, scale)
            recipe = wanted_recipe(recipe, output, files, changes, quiet=quiet)
            prepared = wanted_corpus(recipe, output, store, files, quiet=quiet)
            wishes = Wishes(quiet=quiet, live=not no_progress, curves=tensorboard)
            code = trained(output, recipe, prepared, wishes, rendezvous)
    if code:
        sys.exit(code)
    if not quiet:
        display.tell(f"hint: transduce average {output} -o MODEL")


def trained(
    folder: Path,
    recipe: Recipe,
    prepared: "PreparedCorpus",
    wishes: Wishes,
    rendezvous: "Rendezvous | None" = None,
) -> int:
    """Train with somebody watching; the exit code, which is 0 unless a signal ended it."""
    from transduce.checkpoint import has_checkpoints, is_run
    from transduce.runs.run_folder import begin_or_resume_run, train_run
    from transduce.training.callbacks import TrainingCallbacks
    from transduce.training.loop import is_finished

    began_before = is_run(folder)
    rank = rendezvous.rank if rendezvous else ProcessRank()
    recipe = begin_or_resume_run(folder, recipe, prepared, rank.local_size)
    use_threads(recipe.training.threads)
    with (
        view(recipe.training.steps, wishes) as seen,
        shown_too(seen, folder, wanted=wishes.curves) as watched,
        signals.signals_as_requests(watched.said) as requests,
        workers.open_process_group(rendezvous, requests, recipe, prepared) as group,
    ):
        if group.world_size > 1:
            watched.said(f"{group.world_size} processes share every update")
        if warning := workers.idle_processes_warning(recipe, group.world_size):
            watched.warned(warning)
        if began_before and not has_checkpoints(folder):
            watched.said(f"{folder} ended before its first checkpoint: it begins anew")
        callbacks = TrainingCallbacks(  # messages of the loop are all about what went wrong
            on_update=watched.told, on_validation=watched.looked, on_message=watched.warned
        )
        progress = train_run(
            folder,
            recipe,
            prepared,
            callbacks,
            lambda start: say_start(start, recipe, prepared, folder, watched),
            group,
        )
        done = (
            is_finished(progress, recipe.training) and not requests.stop_signal
        )  # else a validation may be missing
        for line in ending(folder, recipe.training, progress, done=done):
            watched.said(line)
    return 0 if done else 128 + requests.stop_signal


def say_start(
    start: "RunStart",
    recipe: Recipe,
    prepared: "PreparedCorpus",
    folder: Path,
    watched: View,
) -> None:
    """What is about to happen, what is not the paper's in it, and what is not as it was."""
    from transduce.runs.ledger import describe_deviations, describe_size

    if start.progress.step:
        watched.said(f"going on from step {start.progress.step:,} of {folder}")
    else:
        watched.said(f"{recipe.name}: {start.parameters:,} parameters, in {folder}")
        symbols = map(len, prepared.vocabularies)
        for line in (*describe_deviations(recipe), describe_size(recipe.architecture, *symbols)):
            watched.said(f"  {line}")
    for path, reason in start.rejected:
        watched.warned(f"{path.name} cannot be used: {reason}")
    for change in start.changed:
        watched.warned(f"this resume may differ in its last bits: {change}")


def ending(folder: Path, training: Training, progress: "Progress", *, done: bool) -> list[str]:
    """Where things stand; the next move, if it was stopped."""
    skipped = f", {progress.skipped} updates skipped" if progress.skipped else ""
    if not done:
        return [
            f"stopped at step {progress.step:,} of {training.steps:,}{skipped}, kept in {folder}"
            if progress.step
            else f"stopped before the first update of {training.steps:,}",
            "hint: the same command goes on from here",
        ]
    early = (
        f", {training.patience} validations without improvement"
        if progress.step < training.steps
        else ""
    )
    minutes = progress.seconds / 60
    return [f"trained {progress.step:,} steps in {minutes:.1f} minutes{skipped}{early}: {folder}"]


def wanted_recipe(
    recipe: Recipe | None,
    folder: Path,
    files: Mapping[str, Path | None],
    changes: Sequence[tuple[str, str]],
    *,
    quiet: bool,
) -> Recipe:
    """The recipe that was named, that of a run that goes on, or one that fits."""
    from transduce.checkpoint import is_run, read_run

    if recipe is None and is_run(folder):
        recipe = read_run(folder).recipe
    elif recipe is None:
        from transduce.machine.device import select_device
        from transduce.runs.recommend import recommend_recipe

        train = from_files(files, "")
        if train is None:
            raise InputError(
                "neither a recipe nor a text was named",
                "transduce train RECIPE, or --source FILE --target FILE; `transduce recipes` lists",
            )
        gpu = select_device().type != "cpu"
        with display.counting(shown=not quiet) as told:
            recipe, reasons = recommend_recipe(train, dict(changes), has_gpu=gpu, on_progress=told)
        for reason in () if quiet else reasons:
            display.tell(reason)
    return customise_recipe(recipe, dict(changes))


def wanted_corpus(
    recipe: Recipe,
    folder: Path,
    store: Path | None,
    files: Mapping[str, Path | None],
    *,
    quiet: bool,
) -> "PreparedCorpus":
    """The corpus that was prepared elsewhere, or one in the run's own folder."""
    from transduce.checkpoint import is_run
    from transduce.cli.prepare import describe_corpus
    from transduce.runs.choice import choose_texts
    from transduce.runs.prepared_corpus import (
        STORE,
        open_prepared,
        prepare_corpus,
        require_prepared_for,
    )

    own = folder / STORE
    named = [name for name, file in files.items() if file]
    if store is not None:
        option = "--" + "".join(named[:1]).replace("_", "-")
        require(
            not named, f"{option} has no place beside --store, which holds all texts", "leave one"
        )
        prepared = open_prepared(store)
        require_prepared_for(prepared, recipe.data)
        return prepared
    if is_run(folder) and own.is_dir() and not named:
        return open_prepared(own)
    train, dev = choose_texts(recipe.data, *named_texts(files))
    fresh = not (own / "train").is_dir()
    with display.counting(shown=not quiet) as told:
        prepared = prepare_corpus(own, recipe.data, train, dev, told)
    for line in describe_corpus(prepared) if fresh and not quiet else ():
        display.tell(line)
    return prepared
