"""A run of milliseconds in a folder of its own, resumed as the command line does it."""

import hashlib
import itertools

from tests.training.stopping import single_process_until
from tests.training.tiny import batches, fresh, training_of

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.checkpoint.run_file import create_run, is_run
from transduce.durable.json import parse_record
from transduce.settings import Recipe
from transduce.text.arguments import ignore_event
from transduce.training.loop import TrainingJob, train
from transduce.training.progress import Progress, TrainingCallbacks

STEPS = 12
RECIPE = training_of(steps=STEPS)


def train_rank(group, folder, training=RECIPE, batches=batches):
    """Train one rank of a group; return the progress and a hash of all weights and moments."""
    model, optimiser = fresh(training, dropout=0.1)

    def resume_point():
        if not is_run(folder):
            create_run(folder, Recipe(name="tiny"), {})
        return restore_newest(folder, optimiser)

    progress = group.run_on_rank_0(resume_point)
    group.broadcast(optimiser.state_tensors)
    job = TrainingJob(
        folder=folder, model=model, optimiser=optimiser, training=training, batches=batches
    )
    progress = train(job, progress, TrainingCallbacks(), group)
    return progress, hash_state(model, optimiser)


def restore_newest(folder, optimiser):
    """Restore the newest checkpoint, if there is one; return its progress."""
    checkpoint, _ = load_newest_checkpoint(folder)
    if checkpoint is None:
        return Progress()
    optimiser.restore(checkpoint.weights, checkpoint.moments)
    return parse_record(Progress, checkpoint.state["progress"])


def train_folder(folder, training=RECIPE, *, stop_at=None, stop_after_polls=None, **changes):
    """Train from the folder's newest checkpoint; return the progress and a hash of the state.

    `stop_at` stops after that step, `stop_after_polls` when training has polled so often whether
    to stop, which it does before every micro-batch. `changes` are fields of the TrainingJob, or
    `on_message`, the process `group`, or the list to which `steps` are appended.
    """
    if not is_run(folder):
        create_run(folder, Recipe(name="tiny"), {})
    model, optimiser = fresh(training, dropout=0.1)
    progress = restore_newest(folder, optimiser)
    steps: list[int] = changes.pop("steps", [])
    polls = itertools.count(1)

    def should_stop():
        enough = stop_after_polls is not None and next(polls) > stop_after_polls
        return enough or (stop_at is not None and steps[-1:] == [stop_at])

    on_message = changes.pop("on_message", ignore_event)
    group = changes.pop("group", None) or single_process_until(should_stop)
    job = TrainingJob(
        folder=folder,
        model=model,
        optimiser=optimiser,
        training=training,
        **({"batches": batches} | changes),
    )
    callbacks = TrainingCallbacks(
        on_update=lambda update, _: steps.append(update.step), on_message=on_message
    )
    progress = train(job, progress, callbacks, group)
    return progress, hash_state(model, optimiser)


def hash_state(model, optimiser):
    """Return one hash of all weights and moments."""
    digest = hashlib.sha256()
    for tensor in (*model.named_weights().values(), *optimiser.moments.values()):
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
