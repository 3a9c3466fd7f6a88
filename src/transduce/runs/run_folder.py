"""A training run in its folder: begun by the first call and resumed by later calls.

run.json, lock, log.jsonl, checkpoints/, snapshots/, milestones/:  written by the run
vocabulary.json, data.json:  copied from the prepared corpus
store/:  the prepared corpus itself, unless the run uses a corpus in another folder
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import final

from transduce.checkpoint.checkpoints import MOMENTS, STATE, Checkpoint, load_newest_checkpoint
from transduce.checkpoint.run_file import RUN_FILE, create_run, extend_run, is_run, read_run
from transduce.checkpoint.steps import (
    CHECKPOINTS,
    KINDS,
    SNAPSHOTS,
    list_steps,
    open_step,
)
from transduce.checkpoint.stored_model import StoredModel
from transduce.checkpoint.weights import require_matching_tensors
from transduce.corpus.facts import DATA
from transduce.durable.files import ensure_folder, write_atomically
from transduce.durable.folder import AGAIN, require_own_folder
from transduce.durable.json import to_checksummed_json
from transduce.errors import FolderError, InputError
from transduce.machine.device import select_device
from transduce.machine.environment import (
    describe_environment,
    list_environment_changes,
    read_environment,
)
from transduce.paper.training import UPDATES
from transduce.runs.adapt import (
    require_parent_vocabularies,
    require_same_parent,
    save_parent_weights,
)
from transduce.runs.ledger import PARENT, measure_machine, sum_lengths
from transduce.runs.machine_settings import require_trainable, resolve_machine_settings
from transduce.runs.prepared_corpus import STORE, PreparedCorpus, build_feed
from transduce.runs.text_names import TEXT_NAMES
from transduce.runs.validation import build_validation
from transduce.settings import Recipe
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup
from transduce.training.equip import (
    build_for_training,
    build_optimiser,
    choose_loop,
)
from transduce.training.journal import LOG, Journal
from transduce.training.loop import TrainingJob, train
from transduce.training.progress import Progress, TrainingCallbacks, read_progress
from transduce.vocabulary.vocabulary import LEXICON, SHARED, SOURCE, TARGET

CURVES = "tensorboard"
OURS = (RUN_FILE, "lock", LOG, *KINDS, STORE, CURVES, DATA, SHARED, SOURCE, TARGET, LEXICON)
# settings that, if 0, are chosen to fit the machine when the run begins
RESOLVED = ("training.threads", "training.micro_batch_tokens")


@final
@dataclass(frozen=True)
class RunStart:
    """The facts at a run's start: progress, parameters, bad checkpoints and machine changes."""

    progress: Progress
    parameters: int  # number of the model's parameters
    rejected: list[tuple[Path, str]]  # damaged checkpoints, each with the reason for rejecting it
    changed: list[str]  # changes of the machine that may alter the results' last bits


def begin_or_resume_run(
    folder: Path,
    recipe: Recipe,
    prepared: PreparedCorpus,
    processes: int = 1,
    parent: StoredModel | None = None,
) -> Recipe:
    """Begin a run, or check an existing one's recipe and corpus; return the run's recipe.

    `processes` is how many processes of the run share this machine. Settings that are 0 (threads,
    micro-batch size) are chosen to fit the machine. `parent` is the trained model whose weights a
    new run begins with, in place of random ones.
    """
    require_trainable(recipe, processes)
    if is_run(folder):
        stored = read_run(folder)
        require_same_parent(folder, stored, parent)
        require_same_recipe(folder, recipe, stored.recipe)
        corpus = {name: one for name, one in stored.fingerprints.items() if name != PARENT}
        require_same_corpus(folder, corpus, fingerprint_corpus(prepared))
        copy_corpus_files(folder, prepared)
        if parent is not None:
            save_parent_weights(folder, stored.recipe, parent)
        return extend_run(folder, recipe).recipe
    recipe = resolve_machine_settings(recipe, prepared, processes)
    ensure_folder(folder)
    copy_corpus_files(folder, prepared)
    fingerprints = fingerprint_corpus(prepared)
    if parent is None:
        create_run(folder, recipe, fingerprints)
    else:
        require_parent_vocabularies(parent, prepared.vocabularies.hashes(), prepared.folder)
        create_run(folder, recipe, fingerprints | {PARENT: parent.hash})
        save_parent_weights(folder, recipe, parent)
    return recipe


def copy_corpus_files(folder: Path, prepared: PreparedCorpus) -> None:
    """Write a corpus's vocabularies and its training store's metadata into a run folder.

    A file that is there with the same content is left alone.
    """
    about = {DATA: to_checksummed_json(prepared.train.about)}
    for name, content in (*prepared.vocabularies.files().items(), *about.items()):
        path = folder / name
        if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
            continue
        write_atomically(path, content)


def require_run_folder(folder: Path) -> None:
    """Refuse a folder that holds files but no run, or a run with parts that are symbolic links."""
    require_own_folder(folder, RUN_FILE, OURS, "run")
    for name in KINDS:
        if list_steps(folder / name) and not is_run(folder):
            fact = f"is missing, and {name} of its run are here"
            raise FolderError(fact, "put it back, or choose another folder", file=folder / RUN_FILE)


def require_same_recipe(folder: Path, recipe: Recipe, stored: Recipe) -> None:
    """Raise InputError if settings differ from the run's stored ones; names and steps may.

    The steps must reach the run's last checkpoint or snapshot. Where 0 means "chosen for the
    machine", it matches any stored value.
    """
    given, stands = recipe.flat_settings(), stored.flat_settings()
    parents = (folder / name for name in (CHECKPOINTS, SNAPSHOTS))
    done = [(step, parent) for parent in parents for step in list_steps(parent)]
    (trained, parent), steps = max(done, default=(0, folder)), given.pop("training.steps")
    if recipe.training.steps < trained:
        open_step(parent, trained)  # refuses a folder whose name is of another step
        fact = f"this run has trained {trained:,} updates, and training.steps is {steps:,} here"
        raise InputError(fact, "set more, or choose another folder", file=folder)

    def with_commas(value: object) -> str:
        return f"{value:,}" if type(value) is int else str(value)

    differ = [
        f"{path} is {with_commas(stands[path])} there and {with_commas(value)} here"
        for path, value in given.items()
        if value != stands[path]
        and path not in TEXT_NAMES
        and not (path in RESOLVED and value == 0)
    ]
    if differ:
        more = f", and {len(differ) - 3} more" if len(differ) > 3 else ""
        raise InputError(
            f"this run was begun with another recipe: {'; '.join(differ[:3])}{more}",
            "go on with the settings it was begun with, or choose another folder",
            file=folder,
        )


def require_same_corpus(folder: Path, stored: Mapping[str, str], given: Mapping[str, str]) -> None:
    """Refuse a corpus whose fingerprints differ from those the run was begun with."""
    differ = sorted(name for name, _ in dict(stored).items() ^ dict(given).items())
    if differ:
        raise InputError(
            f"this run was begun on another corpus: {' and '.join(dict.fromkeys(differ))} differ",
            "name the corpus it was begun with, or choose another folder",
            file=folder,
        )


def fingerprint_corpus(prepared: PreparedCorpus) -> dict[str, str]:
    """Return the hash of each store and vocabulary of a prepared corpus, by name."""
    prints = {"train": prepared.train.fingerprint, **prepared.vocabularies.hashes()}
    return prints | ({"dev": prepared.dev.fingerprint} if prepared.dev else {})


def train_run(
    folder: Path,
    recipe: Recipe,
    prepared: PreparedCorpus,
    callbacks: TrainingCallbacks,
    on_start: Callable[[RunStart], None],
    group: ProcessGroup = SINGLE_PROCESS,
) -> Progress:
    """Train a run from its last checkpoint to its end, or until stopped; return the progress."""
    model = build_for_training(recipe, prepared.vocabularies)
    validates = prepared.dev is not None and group.rank == 0
    limit = recipe.training.micro_batch_tokens
    feed = build_feed(recipe, prepared, limit).micro_batches
    optimiser = build_optimiser(model, recipe.training)
    batches, add, read = choose_loop(model, optimiser, recipe.training, feed)
    job = TrainingJob(
        folder=folder,
        model=model,
        optimiser=optimiser,
        training=recipe.training,
        batches=batches,
        add_gradients=add,
        read=read,
        validate=build_validation(recipe, prepared, group.requests) if validates else None,
    )
    progress = group.run_on_rank_0(load_resume_point, job, on_start, group)
    if group.rank == 0:
        text = sum_lengths(prepared.train.source_lengths, prepared.train.target_lengths)
        symbols = len(prepared.vocabularies.target)
        what = measure_machine(recipe, text, symbols, select_device(), group.world_size)
        with closing(Journal(folder / LOG)) as journal:  # the devices used from this step on
            journal.write("machine", step=progress.step, **asdict(what))
        job = replace(job, machine=what)
    group.broadcast(job.optimiser.state_tensors)
    job.optimiser.refresh_model()
    return train(job, progress, callbacks, group)


def load_resume_point(
    job: TrainingJob, on_start: Callable[[RunStart], None], group: ProcessGroup
) -> Progress:
    """Load the newest undamaged checkpoint, if any, into model and optimiser; return its progress.

    The facts at the run's start are reported to `on_start`.
    """
    optimiser = job.optimiser
    checkpoint, rejected = load_newest_checkpoint(job.folder)
    progress, changed = Progress(), list[str]()
    if checkpoint is not None:
        folder, file = checkpoint.folder, checkpoint.folder / STATE
        weights = job.model.named_weights()
        optimiser.restore(
            require_matching_tensors(checkpoint.weights, weights, file=folder),
            require_matching_tensors(checkpoint.moments, optimiser.moments, file=folder),
        )
        progress = read_progress(checkpoint.state, checkpoint.step, file)
        require_adam_state(checkpoint)
        if checkpoint.step:
            here = describe_environment(
                select_device(), reduction=group.reduction, processes=group.world_size
            )
            changed = list_environment_changes(read_environment(checkpoint.state, file), here)
    parameters = sum(weight.numel() for weight in optimiser.named_weights.values())
    on_start(RunStart(progress, parameters, rejected, changed))
    if (job.folder / LOG).exists():  # a resume event marks logged events of later steps as lost
        with closing(Journal(job.folder / LOG)) as journal:
            journal.write("resume", step=progress.step, changed=changed)
    return progress


def require_adam_state(checkpoint: Checkpoint) -> None:
    """Raise FolderError if Adam counts more updates than steps, or a mean of squares is below 0."""
    updates = checkpoint.moments[UPDATES].item()
    if updates not in range(checkpoint.step + 1):
        fact = f"counts {updates:g} updates, and its folder is of step {checkpoint.step:,}"
        raise FolderError(fact, AGAIN, file=checkpoint.folder / MOMENTS)
    for name, moment in checkpoint.moments.items():
        if name.startswith("exp_avg_sq.") and bool((moment < 0).any()):
            fact = f"{name} is a mean of squares, and below 0"
            raise FolderError(fact, AGAIN, file=checkpoint.folder / MOMENTS)
