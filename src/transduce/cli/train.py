"""`transduce train`: train a model by a recipe, in a run that can be resumed."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import click

from transduce.cli import display, options, signals
from transduce.cli.inputs import TRAINING, TextOptions
from transduce.cli.options import FiniteRange, argument, flag, group, option
from transduce.cli.training import display_run
from transduce.errors import InputError, LostProcessError, NotFiniteError
from transduce.machine.process_settings import keep_freed_memory
from transduce.recipes.choice import read_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.text.arguments import ignore_event
from transduce.training.distributed.rank import ProcessRank

if TYPE_CHECKING:
    from transduce.checkpoint.stored_model import StoredModel
    from transduce.runs.copies import RunCopy
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.training.distributed.torch_group import Rendezvous


@final
@dataclass(frozen=True, kw_only=True)
class ProcessOptions:
    """The options of training with several processes, and the rank of this process."""

    workers: int = option(
        "Number of processes on this machine that share every update.",
        type=click.IntRange(min=1, max=1_024),
        default=1,
        show_default=True,
    )
    exact: bool = flag("Results equal to the bit for any number of processes; slower.")
    lost_after: float = option(
        "Seconds without communication after which a process counts as lost.",
        type=FiniteRange(min=1),
        default=60,
        show_default=True,
    )
    rank: ProcessRank = field(default_factory=lambda: ProcessRank.from_environment(os.environ))

    def __post_init__(self) -> None:
        require(
            self.workers == 1
            or self.rank.is_single_process
            or self.rank.rendezvous_file is not None,
            "--workers starts the processes of one machine, and torchrun has started some",
            "leave --workers out: torchrun's --nproc-per-node says how many",
        )

    def open_rendezvous(self) -> "Rendezvous | None":
        """Return the rendezvous with the other processes; None if this is the only process."""
        if self.rank.is_single_process:
            return None
        from transduce.training.distributed.torch_group import Rendezvous

        return Rendezvous(self.rank, self.lost_after, exact=self.exact)


@options.make_command("train", options.quiet, options.no_progress)
def command(  # noqa: PLR0915 - all steps of a training, in order
    *,
    recipe: Recipe | None = argument(required=False),
    texts: TextOptions = group(*TRAINING),
    store: Path | None = option("A corpus that `transduce prepare` made."),
    output: Path = options.output_folder("The run folder: a new one, or that of a run to resume."),
    name: str | None = options.name,
    languages: tuple[str, ...] | None = options.languages,
    minutes: float | None = option(
        "Without a recipe: choose model size and number of updates so that training takes about "
        "this many minutes on this machine.",
        type=FiniteRange(0, 1_000_000, min_open=True),
    ),
    scale: str | None = options.scale,
    changes: Sequence[tuple[str, str]] = options.settings,
    processes: ProcessOptions = group(),
    tensorboard: bool = flag("Also write curves to RUN/tensorboard."),
    copy_to: str | None = option(
        "Copy the run after every checkpoint, to a folder or to what fsspec opens, such as "
        "s3://bucket/run; where RUN is missing or empty, go on from the copy.",
        metavar="ADDRESS",
    ),
) -> None:
    """Train a model by RECIPE, or by one chosen to fit the text and the machine.

    The same command, run again, resumes from the last checkpoint; on the same machine the results
    are bit-identical. A higher training.steps continues a finished run to that step; a lower one
    ends an unfinished run earlier.
    Ctrl-C, SIGTERM and a closed terminal stop the run after a checkpoint of the last finished
    update; SIGUSR1 writes a checkpoint while the run continues. `transduce average` writes a model
    folder from a run; `transduce translate` also accepts a run and uses its newest checkpoint.

    \b
    transduce train --source a.en --target a.de --dev-source d.en --dev-target d.de -o RUN
    transduce train table3/base --store wmt14 -o RUN --set training.steps=2000
    transduce train --from MODEL --pairs new.tsv --old-pairs old.tsv -o RUN
    """
    signals.ignore_checkpoint_signal()
    recipe = read_recipe(recipe, scale)
    if processes.workers > 1 and processes.rank.is_single_process:  # this is only the launcher
        sys.exit(launch_and_wait(processes))
    signals.die_with_parent(processes.rank.parent)
    from transduce.checkpoint.run_file import is_run
    from transduce.cli.prepare import describe_corpus
    from transduce.durable.lock import create_and_lock_folder
    from transduce.runs.copies import open_copy
    from transduce.runs.training_inputs import TrainingInputs, prepare_training
    from transduce.runs.training_run import require_run_folder, train_as_follower

    keep_freed_memory()
    with silence_repeated_errors(processes):
        rendezvous = processes.open_rendezvous()
        if rendezvous is not None and processes.rank.rank:
            with signals.signals_as_requests(ignore_event) as requests:
                finished = train_as_follower(output, store, rendezvous, requests)
            sys.exit(0 if finished else 128 + requests.stop_signal)
        texts.require_no_text(store)
        require_run_folder(output)
        was_run = is_run(output)
        copy = None if copy_to is None else open_copy(copy_to, output)
        address = copy.address if copy is not None and is_run(output) and not was_run else ""
        if address:
            display.print_note(f"{output} is put back from its copy, {address}")
        inputs = TrainingInputs(
            folder=output,
            recipe=recipe,
            train=texts.read_train(),
            dev=texts.choose_dev(),
            store=store,
            settings=dict(changes),
            parent=texts.parent,
            old=texts.find_text("old_"),
            old_share=texts.old_share,
            name=name,
            languages=languages,
            minutes=minutes,
            rank=processes.rank,
        )
        with create_and_lock_folder(output), hint_at_copy(output, address):
            with display.show_pair_count() as on_progress:
                prepared = prepare_training(inputs, on_progress)
            report = describe_corpus(prepared.corpus) if prepared.is_new_corpus else []
            display.print_note(*prepared.reasons, *report)
            train_with_display(
                output,
                prepared.recipe,
                prepared.corpus,
                tensorboard=tensorboard,
                measure_duration=minutes is None and not display.is_quiet(),
                rendezvous=rendezvous,
                parent=prepared.parent,
                copy=copy,
            )
    display.print_note(f"hint: transduce average {shlex.quote(str(output))} -o MODEL")


def train_with_display(
    folder: Path,
    recipe: Recipe,
    corpus: "PreparedCorpus",
    *,
    tensorboard: bool = False,
    measure_duration: bool = False,
    rendezvous: "Rendezvous | None" = None,
    parent: "StoredModel | None" = None,
    copy: "RunCopy | None" = None,
) -> None:
    """Train a run with a display, from a parent's weights if given; exit if a signal stops it.

    With `measure_duration` a new run's duration is estimated and printed. With `copy` the run is
    copied after every checkpoint.
    """
    from transduce.runs.copies import observe_and_copy
    from transduce.runs.training_run import CURVES, run_training

    run = run_training(
        folder,
        recipe,
        corpus,
        observe_and_copy(partial(display_run, folder, tensorboard=tensorboard), copy, folder),
        parent=parent,
        rendezvous=rendezvous,
        measure_duration=measure_duration,
    )
    if tensorboard and not (folder / CURVES).exists():
        fact = f"no update was left to make, so {folder / CURVES} is not written"
        display.print_message(f"warning: {fact}; `transduce curves` draws a run's log")
    if not run.is_finished:
        display.print_note("hint: the same command goes on from here")
        sys.exit(128 + run.stop_signal)


def launch_and_wait(options: ProcessOptions) -> int:
    """Run the workers and forward signals; return the exit code; raise if a signal ended them."""
    from transduce.training.distributed.launcher import launch_processes

    with (
        launch_processes(options.workers) as processes,
        signals.handle_signals(processes.forward_signal),
    ):
        code = processes.wait(options.lost_after)
    if -code in signals.ENDS:
        raise signals.ENDS[-code]
    return code


@contextmanager
def silence_repeated_errors(processes: ProcessOptions) -> Iterator[None]:
    """In a with block, exit silently on an error that the launcher or rank 0 reports."""
    try:
        yield
    except LostProcessError as fault:
        if processes.rank.rendezvous_file is None:
            raise
        raise SystemExit(fault.exit_code) from fault
    except NotFiniteError as fault:
        if processes.rank.rank == 0:
            raise
        raise SystemExit(fault.exit_code) from fault


@contextmanager
def hint_at_copy(output: Path, address: str) -> Iterator[None]:
    """In a with block, tell in an InputError's hint that `output` is from `address`, unless ""."""
    try:
        yield
    except InputError as error:
        if not address:
            raise
        other = f"if {address} is a copy of another run, delete {output}, which was put back from "
        hints = [*filter(None, [error.hint]), f"{other}it, and choose another --copy-to"]
        raise InputError(error.fact, "; ".join(hints)) from error
