"""A run of milliseconds in a folder of its own, started again as the command line does it."""

import hashlib
import itertools

from tests.training.alone import alone_until
from tests.training.tiny import batches, fresh, training_of

from transduce.checkpoint import begin_run, is_run, newest
from transduce.settings import Recipe
from transduce.training.loop import TrainingCallbacks, TrainingJob, nothing, train
from transduce.training.progress import Progress

STEPS = 12
RECIPE = training_of(steps=STEPS)


def together(group, folder, training=RECIPE, batches=batches):
    """The same run by one of several processes: the first keeps the folder, all have a hash."""
    model, optimiser = fresh(training, dropout=0.1)

    def resume_point():
        if not is_run(folder):
            begin_run(folder, Recipe(name="tiny"), {})
        return restored(folder, optimiser)

    progress = group.on_rank_0(resume_point)
    group.spread(optimiser.numbers)
    job = TrainingJob(
        folder=folder, model=model, optimiser=optimiser, training=training, batches=batches
    )
    progress = train(job, progress, TrainingCallbacks(), group)
    return progress, fingerprint(model, optimiser)


def restored(folder, optimiser):
    """The newest save put in place."""
    save, _ = newest(folder)
    if save is None:
        return Progress()
    optimiser.restore(save.weights, save.moments)
    return Progress.from_json(save.state["progress"])


def go(folder, training=RECIPE, *, stop_at=None, patience_of_asks=None, **around):
    """Train from wherever the folder stands; the progress, and a hash of every number kept.

    `stop_at` stops after that step, `patience_of_asks` when the loop has asked so often whether
    it should, which is before every micro-batch.
    """
    if not is_run(folder):
        begin_run(folder, Recipe(name="tiny"), {})
    model, optimiser = fresh(training, dropout=0.1)
    progress = restored(folder, optimiser)
    steps: list[int] = []
    asks = itertools.count(1)

    def stopped():
        enough = patience_of_asks is not None and next(asks) > patience_of_asks
        return enough or (stop_at is not None and steps[-1:] == [stop_at])

    said = around.pop("said", nothing)
    job = TrainingJob(
        folder=folder,
        model=model,
        optimiser=optimiser,
        training=training,
        **({"batches": batches} | around),
    )
    audience = TrainingCallbacks(told=lambda update, _: steps.append(update.step), said=said)
    progress = train(job, progress, audience, alone_until(stopped))
    return progress, fingerprint(model, optimiser)


def fingerprint(model, optimiser):
    """One hash of all weights and moments."""
    digest = hashlib.sha256()
    for tensor in (*model.named_weights().values(), *optimiser.moments.values()):
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
