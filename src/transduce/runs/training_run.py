"""A whole training, from recipe and corpus to finished run, for `transduce.train` and commands.

The run is begun by the first call, and resumed by later ones. Callbacks are called on every event,
and a signal stops the training. The folder of a run has:

run.json, lock, log.jsonl, epochs.json, checkpoints/, snapshots/, milestones/:  written by the run
vocabulary.json, data.json:  copied from the prepared corpus
store/:  the prepared corpus itself, unless the run uses a corpus in another folder
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, final

import torch

from transduce.checkpoint.checkpoints import (
    MOMENTS,
    STATE,
    Checkpoint,
    has_checkpoints,
    list_snapshots,
    load_newest_checkpoint,
)
from transduce.checkpoint.run_file import RUN_FILE, create_run, is_run, read_run, update_run_recipe
from transduce.checkpoint.steps import CHECKPOINTS, KIND_OF_FOLDER, SNAPSHOTS, list_steps, open_step
from transduce.checkpoint.stored_model import StoredModel
from transduce.checkpoint.weights import require_matching_tensors
from transduce.corpus.store import DATA
from transduce.durable.files import ensure_folder, write_atomically
from transduce.durable.folder import AGAIN, require_own_folder
from transduce.durable.json import to_checksummed_json
from transduce.equip import list_changed_parts
from transduce.errors import FolderError, InputError
from transduce.machine.device import has_fast_bfloat16, select_device
from transduce.machine.environment import list_environment_changes, read_environment
from transduce.machine.process_settings import use_threads
from transduce.paper.training import UPDATES
from transduce.recipes.tables import TABLE_3
from transduce.runs.adapt import (
    require_parent_vocabularies,
    require_same_parent,
    save_parent_weights,
)
from transduce.runs.duration import describe_pace, measure_pace
from transduce.runs.epoch_ends import EPOCHS, EpochEnds
from transduce.runs.ledger import (
    PARENT,
    describe_size,
    describe_training,
    list_warnings,
    measure_machine,
    sum_lengths,
)
from transduce.runs.machine_settings import require_trainable, resolve_machine_settings
from transduce.runs.prepared_corpus import STORE, PreparedCorpus, build_feed, open_prepared
from transduce.runs.recommend import CHOSEN
from transduce.runs.text_names import TEXT_NAMES
from transduce.runs.validation import build_validation
from transduce.settings import Recipe, Training
from transduce.settings.counts import count_parameters
from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.text.arguments import ignore_event
from transduce.training.distributed.process_group import SINGLE_PROCESS, ProcessGroup, SingleProcess
from transduce.training.distributed.rank import ProcessRank, SignalRequests
from transduce.training.equip import (
    build_for_training,
    build_optimiser,
    choose_loop,
    describe_training_environment,
)
from transduce.training.journal import LOG, Journal, has_logged_checkpoint
from transduce.training.loop import TrainingJob, is_finished, train
from transduce.training.progress import Progress, TrainingCallbacks, read_progress
from transduce.vocabulary.vocabulary import LEXICON, SHARED, SOURCE, TARGET

if TYPE_CHECKING:
    from transduce.training.distributed.torch_group import Rendezvous

WORTH_SHORTENING = 30  # minutes; for a longer training, the user is told what shortens it
LOW_BLEU, MANY_UPDATES = 1.0, 1_000  # a lower BLEU gets a hint after this many updates
SLOW_BFLOAT16 = (
    "this processor has no fast instructions for bfloat16, and is slower in it than in float32; "
    "begin a run with --set training.precision=float32"
)
CURVES = "tensorboard"
OURS = (
    RUN_FILE,
    "lock",
    LOG,
    EPOCHS,
    *KIND_OF_FOLDER,
    STORE,
    CURVES,
    DATA,
    SHARED,
    SOURCE,
    TARGET,
    LEXICON,
)
# settings that, if 0, are chosen to fit the machine when the run begins
RESOLVED = ("training.threads", "training.micro_batch_tokens")


@final
@dataclass(frozen=True, kw_only=True)
class TrainingRun:
    """The result of a training: the run, trained to its end or until it was stopped."""

    folder: Path
    recipe: Recipe  # the run's recipe, with its actual threads and micro-batch size
    progress: Progress
    parameters: int  # number of the model's parameters
    is_finished: bool
    stop_signal: int = 0  # the signal that stopped the run early; 0 if none

    def __fspath__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        state = "finished" if self.is_finished else "stopped"
        return f"<run {self.folder}: {state} at step {self.progress.step:,}>"


@final
@dataclass(frozen=True)
class RunStart:
    """The facts at a run's start: progress, bad checkpoints and machine changes."""

    progress: Progress
    rejected: list[tuple[Path, str]]  # damaged checkpoints, each with the reason for rejecting it
    changed: list[str]  # changes of the machine that may alter the results' last bits


def run_training(  # noqa: PLR0913 - one parameter for each choice of the caller
    folder: Path,
    recipe: Recipe,
    corpus: PreparedCorpus,
    observe: Callable[[Recipe], AbstractContextManager[tuple[TrainingCallbacks, SignalRequests]]],
    *,
    parent: StoredModel | None = None,
    rendezvous: "Rendezvous | None" = None,
    measure_duration: bool = False,
) -> TrainingRun:
    """Begin or resume a run; train it to its end, or until a signal stops it; return it.

    Given the run's recipe, `observe` opens its callbacks and the stop requests that signals set.
    `parent` is the trained model whose weights a new run begins with, in place of random ones.
    With `measure_duration` a new run's duration is measured, and reported in a message.
    """
    was_begun = is_run(folder)
    new_beginning = describe_restart(folder) if was_begun else ""
    rank = rendezvous.rank if rendezvous else ProcessRank()
    recipe = begin_or_resume_run(folder, recipe, corpus, rank.local_size, parent)
    use_threads(recipe.training.threads)
    with ExitStack() as opened:
        callbacks, requests = opened.enter_context(observe(recipe))
        # before the processes join, since a process that is silent for too long then counts as lost
        is_measured = measure_duration and not was_begun
        estimate = estimate_duration(recipe, corpus, rank.world_size) if is_measured else []
        group = opened.enter_context(open_process_group(rendezvous, requests, recipe, corpus))
        report_processes(recipe, group.world_size, callbacks)
        if recipe.training.precision == "bfloat16" and not has_fast_bfloat16(select_device()):
            callbacks.warn(SLOW_BFLOAT16)
        if new_beginning:
            callbacks.warn(new_beginning)
        report = partial(report_start, folder, recipe, corpus, callbacks, estimate)
        progress = train_run(folder, recipe, corpus, callbacks, report, group)
        # a run stopped at its last step may lack its last validation
        finished = is_finished(progress, recipe.training) and not requests.stop_signal
        for line in describe_end(folder, recipe.training, progress, finished=finished):
            callbacks.on_message(line)
    return TrainingRun(
        folder=folder,
        recipe=recipe,
        progress=progress,
        parameters=count_parameters(recipe.architecture, *map(len, corpus.vocabularies)),
        is_finished=finished,
        stop_signal=requests.stop_signal,
    )


def describe_restart(folder: Path) -> str:
    """Return why a run without checkpoints begins anew; "" if it has checkpoints.

    Refuses a run whose checkpoints were deleted and whose snapshots would be written over.
    """
    if has_checkpoints(folder):
        return ""
    if not has_logged_checkpoint(folder / LOG):
        return f"{folder} ended before its first checkpoint: it begins anew"
    if snapshots := list_snapshots(folder):
        raise FolderError(
            "its checkpoints are gone, and it would begin anew over snapshots up to step "
            f"{snapshots[-1].step:,}",
            f"put {folder / CHECKPOINTS} back, or average the snapshots; to begin anew, choose "
            "another folder, or delete the snapshots too",
            file=folder,
        )
    return f"the checkpoints of {folder} are gone: it begins anew"


@contextmanager
def open_process_group(
    rendezvous: "Rendezvous | None",
    requests: SignalRequests,
    recipe: Recipe,
    corpus: PreparedCorpus,
) -> Iterator[ProcessGroup]:
    """Context manager that sends recipe and corpus hashes to other ranks and yields the group."""
    if rendezvous is None:
        yield SingleProcess(requests)
        return
    job = {"recipe": recipe.as_json(), "corpus": fingerprint_corpus(corpus)}
    rendezvous.publish_job(json.dumps(job))
    with rendezvous.join_group(requests) as group:
        yield group


def require_usual_torch() -> None:
    """Raise InputError if torch's settings would change numbers or record no gradients."""
    dtype, device = torch.get_default_dtype(), torch.get_default_device()
    gradients = torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    unusual = {
        f"its default dtype is {dtype}": dtype != torch.float32,
        f"its default device is {device}": device.type != "cpu",
        "autocast is on": torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"),
        "it records no gradients": not gradients,
    }
    for what, is_so in unusual.items():
        require(not is_so, f"torch cannot train as it is set up: {what}", "undo this setting first")


def train_as_follower(
    folder: Path, store: Path | None, rendezvous: "Rendezvous", requests: SignalRequests
) -> bool:
    """Train on a rank other than 0 with rank 0's recipe; return whether the run is finished."""
    job = json.loads(rendezvous.wait_for_job())
    recipe = Recipe.from_mapping(job["recipe"])
    corpus = open_prepared(store or folder / STORE)
    require_same_corpus(folder, job["corpus"], fingerprint_corpus(corpus))
    use_threads(recipe.training.threads)
    with rendezvous.join_group(requests) as group:
        progress = train_run(folder, recipe, corpus, TrainingCallbacks(), ignore_event, group)
    return is_finished(progress, recipe.training)


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
        return update_run_recipe(folder, recipe).recipe
    if parent is not None:
        require_parent_vocabularies(parent, prepared.vocabularies.hashes(), prepared.folder)
    recipe = resolve_machine_settings(recipe, prepared, processes)
    ensure_folder(folder)
    copy_corpus_files(folder, prepared)
    fingerprints = fingerprint_corpus(prepared)
    if parent is None:
        create_run(folder, recipe, fingerprints)
    else:
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
    """Refuse a folder of other files, one with steps but no run.json, and links as subfolders."""
    require_own_folder(folder, RUN_FILE, OURS, "run", RUN_FILE)
    for name in KIND_OF_FOLDER:
        if list_steps(folder / name) and not is_run(folder):
            fact = f"is missing, and {name} of its run are here"
            raise FolderError(fact, "put it back, or choose another folder", file=folder / RUN_FILE)


def require_same_recipe(folder: Path, recipe: Recipe, stored: Recipe) -> None:
    """Raise InputError if settings differ, text names and steps aside, or if steps are too few.

    The steps must reach the run's last checkpoint or snapshot. Where 0 means "chosen for the
    machine", it matches any stored value.
    """
    given, before = recipe.flat_settings(), stored.flat_settings()
    folders = (folder / name for name in (CHECKPOINTS, SNAPSHOTS))
    done = [(step, place) for place in folders for step in list_steps(place)]
    (trained, place), steps = max(done, default=(0, folder)), given.pop("training.steps")
    if recipe.training.steps < trained:
        open_step(place, trained)  # raises if the folder's manifest names another step or run
        fact = f"this run has trained {trained:,} updates, and training.steps is {steps:,} here"
        raise InputError(fact, "set more, or choose another folder", file=folder)

    def with_commas(value: object) -> str:
        return f"{value:,}" if type(value) is int else str(value)

    differ = [
        f"{path} is {with_commas(before[path])} there and {with_commas(value)} here"
        for path, value in given.items()
        if value != before[path]
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
    epochs = EpochEnds(folder, recipe, prepared.train.fingerprint)
    is_kept = recipe.data.has_changed_pairs  # other epochs are planned in a moment
    on_epoch = epochs.write if is_kept and group.rank == 0 else ignore_event
    ends = epochs.read() if is_kept else ()
    feed = build_feed(recipe, prepared, limit, ends, on_epoch).micro_batches
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
        machine = measure_machine(recipe, text, symbols, select_device(), group.world_size)
        with closing(Journal(folder / LOG)) as journal:  # the devices used from this step on
            journal.write("machine", step=progress.step, **asdict(machine))
        job = replace(job, machine=machine)
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
            here = describe_training_environment(group)
            changed = list_environment_changes(read_environment(checkpoint.state, file), here)
    on_start(RunStart(progress, rejected, changed))
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


def report_processes(recipe: Recipe, world_size: int, callbacks: TrainingCallbacks) -> None:
    """Report how many processes share each update; warn if some of them get no micro-batch."""
    if world_size > 1:
        callbacks.on_message(f"{world_size} processes share every update")
    tokens = recipe.data.source_tokens + recipe.data.target_tokens
    limit = recipe.training.micro_batch_tokens
    parts = -(-tokens // limit)
    if parts < world_size:
        callbacks.warn(
            f"{world_size - parts} of {world_size} processes have nothing to do: an update of "
            f"{tokens:,} tokens is {parts} micro-batch{'es'[: 2 * (parts > 1)]} of {limit:,} "
            "(training.micro_batch_tokens); begin a run with --set "
            f"training.micro_batch_tokens={max(2 * recipe.data.max_length, tokens // world_size)}"
        )


def report_start(
    folder: Path,
    recipe: Recipe,
    corpus: PreparedCorpus,
    callbacks: TrainingCallbacks,
    estimate: Sequence[str],
    start: RunStart,
) -> None:
    """Report a new run's settings and `estimate`, or a resume; warn of what `start` found."""
    if start.progress.step:
        callbacks.on_message(f"going on from step {start.progress.step:,} of {folder}")
    else:
        name = shorten_name(recipe.name)
        callbacks.on_message(f"{name}: a new run in {folder}")
        parent = read_run(folder).fingerprints.get(PARENT)
        lines = [f"goes on from the weights of the model with sha256 {parent}"] if parent else []
        size = describe_size(recipe.architecture, *map(len, corpus.vocabularies))
        for line in (*lines, *describe_training(recipe, corpus), size):
            callbacks.on_message(f"  {line}")
        for warning in list_warnings(recipe, corpus):
            callbacks.warn(warning)
    if changed := list_changed_parts():
        names = ", ".join(changed)
        callbacks.on_message(f"computed as paper/ is now, not by the fast form: {names}")
    for path, reason in start.rejected:
        callbacks.warn(f"{path.name} cannot be used: {reason}")
    for change in start.changed:
        callbacks.warn(f"this resume may differ in its last bits: {change}")
    for line in estimate:
        callbacks.on_message(f"  {line}")


def estimate_duration(recipe: Recipe, corpus: PreparedCorpus, processes: int) -> list[str]:
    """Return sentences on how long a new run takes on this machine, and what shortens it.

    The advice is for a new run in another folder; a begun run can change its steps, not its sizes.
    """
    pace = measure_pace(recipe, corpus, processes)
    told, minutes = [describe_pace(recipe, pace)], pace.estimate_seconds(recipe) / 60
    if minutes < WORTH_SHORTENING:
        return told
    if recipe.because == CHOSEN:
        return [
            *told,
            f"shorter: in another folder, --minutes {WORTH_SHORTENING} chooses sizes and updates",
        ]
    is_of_table = any(one.architecture == recipe.architecture for one in TABLE_3.values())
    scale = ["shorter: --scale laptop, in another folder"] if is_of_table else []
    fewer = "shorter: in another folder, with --set training.steps=…"
    return [*told, fewer, *scale]


def describe_end(
    folder: Path, training: Training, progress: Progress, *, finished: bool
) -> list[str]:
    """Return sentences on where a run ended, finished or not."""
    skipped = f", {progress.skipped} updates skipped" if progress.skipped else ""
    if not finished:
        return [
            f"stopped at step {progress.step:,} of {training.steps:,}{skipped}, kept in {folder}"
            if progress.step
            else f"stopped before the first update of {training.steps:,}"
        ]
    patience = f"{training.patience} validations without improvement"
    early = f", {patience}" if progress.step < training.steps else ""
    steps = f"{progress.step:,} step{'s' * (progress.step != 1)}"
    minutes = progress.seconds / 60
    last = progress.last_validation
    falls = last and last.nats == progress.best_nats and last.step > training.validate_every
    falling = ", the development loss still falling" if falls and not early else ""
    lines = [f"trained {steps} in {minutes:.1f} minutes{skipped}{early}{falling}: {folder}"]
    score = last.score if last else None
    is_low = score is not None and score.name == "BLEU" and score.value < LOW_BLEU
    if score and is_low and not early and progress.step >= MANY_UPDATES:
        lines.append(
            f"hint: with a BLEU of {score.value:.2f} the model hardly reads its source yet; it "
            f"needs more updates (the same command with --set training.steps={2 * progress.step}), "
            "or, in a new run, a longer training.warmup"
        )
    return lines
