"""A whole training, from inputs to finished run, for `transduce.train` and the commands.

The recipe and the corpus are chosen and prepared, the run is begun or resumed in its folder, an
observer is called on every event, and a signal stops the training.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, final, runtime_checkable

from transduce.checkpoint import has_checkpoints, is_run, read_run
from transduce.machine.device import has_fast_bfloat16, select_device
from transduce.machine.process_settings import use_threads
from transduce.runs.choice import choose_recipe, choose_texts, open_texts
from transduce.runs.ledger import describe_deviations, describe_size
from transduce.runs.prepared_corpus import (
    STORE,
    OnProgress,
    PreparedCorpus,
    open_prepared,
    prepare_corpus,
    require_prepared_for,
)
from transduce.runs.run_folder import (
    RunStart,
    begin_or_resume_run,
    fingerprint_corpus,
    require_same_corpus,
    train_run,
)
from transduce.settings import Data, Recipe, Training
from transduce.settings.fields import require
from transduce.settings.recipe import Value, with_changes
from transduce.training.callbacks import TrainingCallbacks, ignore_event
from transduce.training.distributed.process_group import ProcessGroup, SingleProcess
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.rendezvous import Rendezvous
from transduce.training.distributed.requests import SignalRequests
from transduce.training.loop import is_finished
from transduce.training.progress import Progress, ValidationResult
from transduce.training.update import Update

EMULATED_BFLOAT16 = (
    "this processor has no instructions for bfloat16 and emulates it, many times slower than "
    "float32; begin a run with --set training.precision=float32"
)


@runtime_checkable
class RunObserver(Protocol):
    """Receiver of a run's events: a display, a TensorBoard writer, or a user's callbacks."""

    def on_update(self, update: Update, progress: Progress) -> None:
        """Receive the results of an update, and the run's progress after it."""

    def on_validation(self, result: ValidationResult, progress: Progress) -> None:
        """Receive the result of a validation, and the run's progress after it."""

    def on_message(self, sentence: str) -> None:
        """Receive a sentence about the run, such as where it resumes."""

    def on_warning(self, sentence: str) -> None:
        """Receive a warning, such as that a checkpoint could not be written."""


@final
@dataclass(frozen=True, kw_only=True)
class RunHooks:
    """A caller's hooks into a run: an observer, stop requests, and the rendezvous of processes."""

    observe: Callable[[Recipe], AbstractContextManager[RunObserver]]
    receive_requests: Callable[[Callable[[str], None]], AbstractContextManager[SignalRequests]]
    rendezvous: Rendezvous | None = None


@final
@dataclass(frozen=True, kw_only=True)
class TrainingInputs:
    """The arguments of a training as its caller gave them: folder, recipe, texts, settings."""

    folder: Path
    recipe: Recipe | None = None
    train: object = None  # a text of any kind that `open_texts` accepts
    dev: object = None
    store: Path | None = None  # the folder of a prepared corpus
    settings: Mapping[str, Value] = field(default_factory=dict)


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
@dataclass(frozen=True, kw_only=True)
class PreparedTraining:
    """A chosen recipe and a prepared corpus, ready for training."""

    recipe: Recipe
    reasons: list[str]  # why this recipe was recommended, in sentences; empty if it was given
    corpus: PreparedCorpus
    is_new_corpus: bool


def prepare_training(inputs: TrainingInputs, on_progress: OnProgress) -> PreparedTraining:
    """Choose the recipe of a training, and prepare its corpus or open a prepared one."""
    folder, recipe = inputs.folder, inputs.recipe
    require(
        recipe is not None or inputs.store is None or is_run(folder),
        "a corpus alone does not say how to train",
        "name a recipe beside --store: the one that it was prepared with",
    )
    if recipe is None and is_run(folder):
        recipe = read_run(folder).recipe
    data = with_changes(recipe or Recipe(name="none"), inputs.settings).data
    pairs = None if inputs.train is None else open_texts("train", inputs.train, data)
    recipe, reasons = choose_recipe(
        recipe,
        pairs,
        inputs.settings,
        has_gpu=select_device().type != "cpu",
        on_progress=on_progress,
    )
    corpus, is_new = open_or_prepare(inputs, recipe.data, on_progress)
    return PreparedTraining(recipe=recipe, reasons=reasons, corpus=corpus, is_new_corpus=is_new)


def open_or_prepare(
    inputs: TrainingInputs, data: Data, on_progress: OnProgress
) -> tuple[PreparedCorpus, bool]:
    """Return the corpus of a training, opened or prepared, and whether it was prepared now."""
    own = inputs.folder / STORE
    has_texts = inputs.train is not None or inputs.dev is not None
    if inputs.store is not None:
        require(not has_texts, "texts and a prepared corpus were named", "leave out one of them")
        corpus = open_prepared(inputs.store)
        require_prepared_for(corpus, data)
        return corpus, False
    if is_run(inputs.folder) and own.is_dir() and not has_texts:
        return open_prepared(own), False
    train, dev = choose_texts(data, inputs.train, inputs.dev)
    is_new = not (own / "train").is_dir()
    return prepare_corpus(own, data, train, dev, on_progress), is_new


def run_training(
    folder: Path, recipe: Recipe, corpus: PreparedCorpus, hooks: RunHooks
) -> TrainingRun:
    """Begin or resume the run in a folder and train it to its end, or until a signal stops it."""
    was_begun = is_run(folder)
    rank = hooks.rendezvous.rank if hooks.rendezvous else ProcessRank()
    recipe = begin_or_resume_run(folder, recipe, corpus, rank.local_size)
    use_threads(recipe.training.threads)
    starts: list[RunStart] = []
    with (
        hooks.observe(recipe) as observer,
        hooks.receive_requests(observer.on_message) as requests,
        open_process_group(hooks.rendezvous, requests, recipe, corpus) as group,
    ):
        report_processes(recipe, group.world_size, observer)
        if recipe.training.precision == "bfloat16" and not has_fast_bfloat16(select_device()):
            observer.on_warning(EMULATED_BFLOAT16)
        if was_begun and not has_checkpoints(folder):
            observer.on_message(f"{folder} ended before its first checkpoint: it begins anew")
        callbacks = TrainingCallbacks(  # the training loop sends warnings only
            on_update=observer.on_update,
            on_validation=observer.on_validation,
            on_message=observer.on_warning,
        )

        def on_start(start: RunStart) -> None:
            starts.append(start)
            report_start(start, folder, recipe, corpus, observer)

        progress = train_run(folder, recipe, corpus, callbacks, on_start, group)
        # a run stopped at its last step may lack its last validation
        finished = is_finished(progress, recipe.training) and not requests.stop_signal
        for line in describe_end(folder, recipe.training, progress, finished=finished):
            observer.on_message(line)
    return TrainingRun(
        folder=folder,
        recipe=recipe,
        progress=progress,
        parameters=starts[0].parameters,
        is_finished=finished,
        stop_signal=requests.stop_signal,
    )


@contextmanager
def open_process_group(
    rendezvous: Rendezvous | None,
    requests: SignalRequests,
    recipe: Recipe,
    corpus: PreparedCorpus,
) -> Iterator[ProcessGroup]:
    """Send recipe and corpus hashes to the other ranks, if any, and yield the process group."""
    if rendezvous is None:
        yield SingleProcess(requests)
        return
    job = {"recipe": recipe.as_json(), "corpus": fingerprint_corpus(corpus)}
    rendezvous.publish_job(json.dumps(job))
    with rendezvous.join_group(requests) as group:
        yield group


def train_as_follower(
    folder: Path, store: Path | None, rendezvous: Rendezvous, requests: SignalRequests
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


def report_processes(recipe: Recipe, world_size: int, observer: RunObserver) -> None:
    """Report how many processes share each update; warn if some of them get no micro-batch."""
    if world_size > 1:
        observer.on_message(f"{world_size} processes share every update")
    if warning := idle_processes_warning(recipe, world_size):
        observer.on_warning(warning)


def idle_processes_warning(recipe: Recipe, world_size: int) -> str:
    """Return a warning if an update has fewer micro-batches than there are processes, else ''."""
    tokens = recipe.data.source_tokens + recipe.data.target_tokens
    limit = recipe.training.micro_batch_tokens
    parts = -(-tokens // limit)
    if parts >= world_size:
        return ""
    return (
        f"{world_size - parts} of {world_size} processes have nothing to do: an update of "
        f"{tokens:,} tokens is {parts} micro-batch{'es'[: 2 * (parts > 1)]} of {limit:,} "
        "(training.micro_batch_tokens); begin a run with --set "
        f"training.micro_batch_tokens={max(2 * recipe.data.max_length, tokens // world_size)}"
    )


def report_start(
    start: RunStart, folder: Path, recipe: Recipe, corpus: PreparedCorpus, observer: RunObserver
) -> None:
    """Report where a run resumes, or a new run's deviations; warn of damaged checkpoints."""
    if start.progress.step:
        observer.on_message(f"going on from step {start.progress.step:,} of {folder}")
    else:
        observer.on_message(f"{recipe.name}: {start.parameters:,} parameters, in {folder}")
        symbols = map(len, corpus.vocabularies)
        for line in (*describe_deviations(recipe), describe_size(recipe.architecture, *symbols)):
            observer.on_message(f"  {line}")
    for path, reason in start.rejected:
        observer.on_warning(f"{path.name} cannot be used: {reason}")
    for change in start.changed:
        observer.on_warning(f"this resume may differ in its last bits: {change}")


def describe_end(
    folder: Path, training: Training, progress: Progress, *, finished: bool
) -> list[str]:
    """Return sentences on the step at which a run ended, and how to resume it if stopped."""
    skipped = f", {progress.skipped} updates skipped" if progress.skipped else ""
    if not finished:
        return [
            f"stopped at step {progress.step:,} of {training.steps:,}{skipped}, kept in {folder}"
            if progress.step
            else f"stopped before the first update of {training.steps:,}",
            "hint: the same command goes on from here",
        ]
    patience = f"{training.patience} validations without improvement"
    early = f", {patience}" if progress.step < training.steps else ""
    minutes = progress.seconds / 60
    return [f"trained {progress.step:,} steps in {minutes:.1f} minutes{skipped}{early}: {folder}"]
