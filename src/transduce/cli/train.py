"""`transduce train`: train a recipe on a parallel text, in a run that can be resumed."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import display, options, signals, workers
from transduce.cli.file_path import FilePath
from transduce.cli.inputs import (
    adaptation_options,
    choose_dev,
    corpus_options,
    no_dev,
    read_corpus_options,
    read_text_options,
)
from transduce.cli.training import DisplayOptions, display_run
from transduce.cli.workers import ProcessOptions
from transduce.errors import InputError
from transduce.machine.process_settings import keep_freed_memory
from transduce.settings import Recipe
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.runs.stored_model import StoredModel
    from transduce.runs.training_inputs import PreparedTraining, TrainingInputs
    from transduce.runs.training_run import TrainingRun
    from transduce.training.distributed.rendezvous import Rendezvous


@click.command("train")
@click.argument("recipe", type=options.RecipeName(), required=False)
@corpus_options
@no_dev
@adaptation_options
@click.option(
    "--store", type=FilePath(path_type=Path), help="A corpus that `transduce prepare` made."
)
@click.option(
    "-o",
    "--output",
    type=FilePath(path_type=Path),
    required=True,
    help="The run folder: a new one, or that of a run to resume.",
)
@options.name
@options.languages
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Without a recipe: choose sizes and updates for so long on this machine.",
)
@options.scale
@options.settings
@workers.training_process_options
@click.option("--tensorboard", is_flag=True, help="Also write curves to RUN/tensorboard.")
@options.quiet
@options.no_progress
def command(  # noqa: PLR0913 - one for each option
    *,
    recipe: Recipe | None,
    no_dev: bool,
    parent: Path | None,
    old_share: float | None,
    store: Path | None,
    output: Path,
    name: str | None,
    languages: tuple[str, ...] | None,
    minutes: float | None,
    scale: str | None,
    changes: Sequence[tuple[str, str]],
    processes: ProcessOptions,
    tensorboard: bool,
    quiet: bool,
    no_progress: bool,
    **files: Path | float | None,
) -> None:
    """Train a model by RECIPE, or by one chosen to fit the text and the machine.

    The same command again resumes from the last checkpoint, with results equal to the bit on the
    same machine. With a higher training.steps it continues a finished run to that step.
    Ctrl-C, SIGTERM and a closed terminal stop the run after a checkpoint of the last finished
    update; SIGUSR1 writes a checkpoint while the run continues. `transduce average` writes a model
    folder from a run; `transduce translate` also accepts a run and uses its newest checkpoint.

    \b
    transduce train --source a.en --target a.de --dev-source d.en --dev-target d.de -o RUN
    transduce train table3/base --store wmt14 -o RUN --set training.steps=2000
    transduce train --from MODEL --pairs new.tsv --old-pairs old.tsv -o RUN
    """
    signals.ignore_checkpoint_signal()
    recipe = options.scale_recipe(recipe, scale, "transduce train table3/base --scale laptop")
    if processes.is_launcher:
        sys.exit(workers.launch_and_wait(processes))
    signals.die_with_parent(processes.rank.parent)
    signals.import_with_signals_deferred("transduce.runs.training_run")
    from transduce.runs.output_folder import locked_folder
    from transduce.runs.run_folder import require_run_folder
    from transduce.runs.training_inputs import TrainingInputs

    keep_freed_memory()
    with workers.silence_repeated_errors(processes):
        rendezvous = processes.open_rendezvous()
        if rendezvous is not None and processes.rank.rank:
            sys.exit(follow_rank_0(rendezvous, output, store))
        require_one_text(store, files)
        require_run_folder(output)
        train, dev = read_corpus_options(files)
        inputs = TrainingInputs(
            folder=output,
            recipe=recipe,
            train=train,
            dev=choose_dev(dev, no_dev=no_dev),
            store=store,
            settings=dict(changes),
            parent=parent,
            old=read_text_options(files, "old_"),
            old_share=old_share,
            name=name,
            languages=languages,
            minutes=minutes,
            rank=processes.rank,
        )
        wanted = DisplayOptions(
            quiet=quiet,
            live=not no_progress,
            tensorboard=tensorboard,
            estimates=minutes is None and not quiet,
        )
        with locked_folder(output):
            prepared = prepare(inputs, quiet=quiet)
            run = train_with_display(
                output, prepared.recipe, prepared.corpus, wanted, rendezvous, prepared.parent
            )
    exit_if_stopped(run)
    display.print_note(f"hint: transduce average {output} -o MODEL")


def require_one_text(store: Path | None, files: Mapping[str, object]) -> None:
    """Refuse a prepared corpus (--store) together with text files."""
    named = [name for name, file in files.items() if file]
    option = "--" + "".join(named[:1]).replace("_", "-")
    require(
        store is None or not named,
        f"{option} and --store exclude each other: a store contains all texts",
        "give one of them",
    )


def prepare(inputs: "TrainingInputs", *, quiet: bool) -> "PreparedTraining":
    """Choose a recipe and prepare its corpus; print reasons for the recipe, and pair counts."""
    from transduce.checkpoint import is_run
    from transduce.cli.prepare import describe_corpus
    from transduce.runs.training_inputs import prepare_training

    named = (inputs.recipe, inputs.train, inputs.store, inputs.parent)
    names_something = any(named) or is_run(inputs.folder)
    if not names_something:
        raise InputError(
            "neither a recipe nor a text was named",
            "transduce train RECIPE, or --source FILE --target FILE; "
            "`transduce recipes` lists them",
        )
    with display.show_pair_count(live=not quiet) as on_progress:
        prepared = prepare_training(inputs, on_progress)
    report = describe_corpus(prepared.corpus) if prepared.is_new_corpus else []
    for line in () if quiet else (*prepared.reasons, *report):
        display.print_message(line)
    return prepared


def train_with_display(
    folder: Path,
    recipe: Recipe,
    corpus: "PreparedCorpus",
    wanted: DisplayOptions,
    rendezvous: "Rendezvous | None" = None,
    parent: "StoredModel | None" = None,
) -> "TrainingRun":
    """Train a run with a display, from a parent's weights if given; signals can stop it."""
    from transduce.runs.training_run import RunHooks, run_training

    hooks = RunHooks(
        observe=partial(display_run, folder, wanted),
        receive_requests=signals.signals_as_requests,
        rendezvous=rendezvous,
        estimates=wanted.estimates,
    )
    return run_training(folder, recipe, corpus, hooks, parent)


def exit_if_stopped(run: "TrainingRun") -> None:
    """Exit with a signal's exit code if that signal stopped the training."""
    if not run.is_finished:
        sys.exit(128 + run.stop_signal)


def follow_rank_0(rendezvous: "Rendezvous", folder: Path, store: Path | None) -> int:
    """Join rank 0's training as another rank until the training ends; return the exit code."""
    from transduce.runs.training_run import train_as_follower
    from transduce.training.callbacks import ignore_event

    with signals.signals_as_requests(ignore_event) as requests:
        finished = train_as_follower(folder, store, rendezvous, requests)
    return 0 if finished else 128 + requests.stop_signal
