"""A whole training, from recipe and corpus to finished run, for `transduce.train` and commands.

The run is begun or resumed in its folder, callbacks are called on every event, and a signal stops
the training.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

import torch

from transduce.checkpoint.checkpoints import has_checkpoints, list_snapshots
from transduce.checkpoint.run_file import is_run, read_run
from transduce.checkpoint.steps import CHECKPOINTS
from transduce.checkpoint.stored_model import StoredModel
from transduce.errors import FolderError
from transduce.machine.device import has_fast_bfloat16, select_device
from transduce.machine.process_settings import use_threads
from transduce.runs.duration import describe_pace, measure_pace
from transduce.runs.ledger import PARENT, describe_size, describe_training, find_doubts
from transduce.runs.prepared_corpus import STORE, PreparedCorpus, open_prepared
from transduce.runs.recommend import CHOSEN
from transduce.runs.run_folder import (
    RunStart,
    begin_or_resume_run,
    fingerprint_corpus,
    require_same_corpus,
    train_run,
)
from transduce.settings import Recipe, Training
from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.text.arguments import ignore_event
from transduce.training.distributed.process_group import ProcessGroup, SingleProcess
from transduce.training.distributed.rank import ProcessRank
from transduce.training.distributed.requests import SignalRequests
from transduce.training.distributed.torch_group import Rendezvous
from transduce.training.journal import LOG, has_logged_checkpoint
from transduce.training.loop import is_finished
from transduce.training.progress import Progress, TrainingCallbacks

WORTH_SHORTENING = 30  # minutes; for a longer training, the user is told what shortens it
SLOW_BFLOAT16 = (
    "this processor has no fast instructions for bfloat16, and is slower in it than in float32; "
    "begin a run with --set training.precision=float32"
)


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


def run_training(  # noqa: PLR0913 - the job, and how its caller takes part in it
    folder: Path,
    recipe: Recipe,
    corpus: PreparedCorpus,
    observe: Callable[[Recipe], AbstractContextManager[tuple[TrainingCallbacks, SignalRequests]]],
    *,
    parent: StoredModel | None = None,
    rendezvous: Rendezvous | None = None,
    estimates: bool = False,
) -> TrainingRun:
    """Begin or resume the run in a folder and train it to its end, or until a signal stops it.

    `observe` opens callbacks for the recipe's run, and the requests that signals make to stop it.
    `parent` is the trained model whose weights a new run begins with, in place of random ones.
    With `estimates` a new run's duration is measured, and reported in a message.
    """
    was_begun = is_run(folder)
    begins_anew = describe_new_beginning(folder) if was_begun else ""
    rank = rendezvous.rank if rendezvous else ProcessRank()
    recipe = begin_or_resume_run(folder, recipe, corpus, rank.local_size, parent)
    use_threads(recipe.training.threads)
    starts: list[RunStart] = []
    with (
        observe(recipe) as (callbacks, requests),
        open_process_group(rendezvous, requests, recipe, corpus) as group,
    ):
        report_processes(recipe, group.world_size, callbacks)
        if recipe.training.precision == "bfloat16" and not has_fast_bfloat16(select_device()):
            callbacks.warn(SLOW_BFLOAT16)
        if begins_anew:
            callbacks.warn(begins_anew)
        estimate = []
        if estimates and not was_begun:
            estimate = estimate_duration(recipe, corpus, group.world_size)

        def on_start(start: RunStart) -> None:
            starts.append(start)
            report_start(start, folder, recipe, corpus, callbacks)
            for line in estimate:
                callbacks.on_message(f"  {line}")

        progress = train_run(folder, recipe, corpus, callbacks, on_start, group)
        # a run stopped at its last step may lack its last validation
        finished = is_finished(progress, recipe.training) and not requests.stop_signal
        for line in describe_end(folder, recipe.training, progress, finished=finished):
            callbacks.on_message(line)
    return TrainingRun(
        folder=folder,
        recipe=recipe,
        progress=progress,
        parameters=starts[0].parameters,
        is_finished=finished,
        stop_signal=requests.stop_signal,
    )


def describe_new_beginning(folder: Path) -> str:
    """Return why a run without checkpoints begins anew; "" if it has some.

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
    rendezvous: Rendezvous | None,
    requests: SignalRequests,
    recipe: Recipe,
    corpus: PreparedCorpus,
) -> Iterator[ProcessGroup]:
    """Context manager that sends recipe and corpus hashes to all ranks and yields their group."""
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
    start: RunStart,
    folder: Path,
    recipe: Recipe,
    corpus: PreparedCorpus,
    callbacks: TrainingCallbacks,
) -> None:
    """Report a resume or a new run's facts; warn of damaged checkpoints and of inexact resumes."""
    if start.progress.step:
        callbacks.on_message(f"going on from step {start.progress.step:,} of {folder}")
    else:
        name = shorten_name(recipe.name)
        callbacks.on_message(f"{name}: a new run in {folder}")
        if parent := read_run(folder).fingerprints.get(PARENT):
            callbacks.on_message(f"  goes on from the weights of the model with sha256 {parent}")
        size = describe_size(recipe.architecture, *map(len, corpus.vocabularies))
        for line in (*describe_training(recipe, corpus), size):
            callbacks.on_message(f"  {line}")
        for warning in find_doubts(recipe, corpus):
            callbacks.warn(warning)
    for path, reason in start.rejected:
        callbacks.warn(f"{path.name} cannot be used: {reason}")
    for change in start.changed:
        callbacks.warn(f"this resume may differ in its last bits: {change}")


def estimate_duration(recipe: Recipe, corpus: PreparedCorpus, processes: int) -> list[str]:
    """Return sentences on how long a new run takes on this machine, and what shortens it."""
    pace = measure_pace(recipe, corpus, processes)
    told, minutes = [describe_pace(recipe, pace)], pace.estimate_seconds(recipe) / 60
    if minutes < WORTH_SHORTENING:
        return told
    if recipe.because == CHOSEN:
        return [*told, f"shorter: --minutes {WORTH_SHORTENING} chooses sizes and updates for that"]
    return [*told, "shorter: fewer updates (--set training.steps=…), or --scale laptop"]


LOW_BLEU, MANY_UPDATES = 1.0, 1_000  # a BLEU below this after so many updates is worth a hint


def describe_end(
    folder: Path, training: Training, progress: Progress, *, finished: bool
) -> list[str]:
    """Return sentences on where a run ended and, if it is not `finished`, on how to resume it."""
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
    steps = f"{progress.step:,} step{'s' * (progress.step != 1)}"
    minutes = progress.seconds / 60
    lines = [f"trained {steps} in {minutes:.1f} minutes{skipped}{early}: {folder}"]
    score = progress.last_validation.score if progress.last_validation else None
    is_low = score is not None and score.name == "BLEU" and score.value < LOW_BLEU
    if score and is_low and not early and progress.step >= MANY_UPDATES:
        lines.append(
            f"hint: with a BLEU of {score.value:.2f} the model hardly reads its source yet; it "
            f"needs more updates (the same command with --set training.steps={2 * progress.step}), "
            "or, in a new run, a longer training.warmup"
        )
    return lines
