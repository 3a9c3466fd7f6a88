"""Stages of a model: its weights at steps of its training, as the explainer shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import numpy as np
from torch import Tensor

from transduce.checkpoint.checkpoints import Snapshot, list_snapshots
from transduce.checkpoint.run_file import read_run
from transduce.checkpoint.steps import MILESTONES
from transduce.checkpoint.stored_model import build_stored_model, read_run_model
from transduce.checkpoint.weights import require_matching_tensors
from transduce.equip import equip_for_inference
from transduce.errors import InputError
from transduce.inference.load import load
from transduce.inference.translator import Translator
from transduce.paper.model import build_transformer
from transduce.runs.average import average_snapshots
from transduce.runs.ledger import PARENT
from transduce.view.curves.points import average_evenly
from transduce.view.curves.read_log import read_run_log
from transduce.view.explainer.weights import read_weights

CURVE_POINTS = 200  # the number of points of the loss curve in the page
Curve = list[list[float | int]]  # [step, loss in nats per target piece], by step


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """The weights of a model at one time of its training."""

    name: str  # such as "trained"
    step: int | None  # the number of updates so far; None for averaged weights
    weights: Mapping[str, Tensor]


def read_trained_stage(translator: Translator) -> Stage:
    """Return the weights of a translator's first model as the stage named "trained"."""
    return Stage("trained", None, read_weights(translator.models[0]))


def load_trained_stage(run: Path) -> tuple[Translator, Stage]:
    """Load a run with the mean of its last snapshots, as `transduce average` writes it.

    A run without any snapshot is loaded with its newest checkpoint.
    """
    translator, stored = load(run), read_run_model(run)
    stage = read_trained_stage(translator)
    if not list_snapshots(run):
        return translator, replace(stage, step=stored.updates)
    steps, weights, _ = average_snapshots(run, None)
    model = build_stored_model(replace(stored, weights=weights)).eval()
    equip_for_inference(model)
    translator = replace(translator, models=(model,), hashes=(), reload=None)
    name = f"trained (mean of {len(steps)} snapshots)" if len(steps) > 1 else "trained"
    return translator, replace(read_trained_stage(translator), name=name, step=steps[-1])


def read_run_stages(run: Path, translator: Translator, trained: Stage) -> tuple[list[Stage], Curve]:
    """Return a run's stages, from untrained to `trained`, and its loss curve.

    Between the two are at most two milestones that the run has kept: the one whose loss is nearest
    to halfway between the first and the last loss, and the one nearest to half of the updates. A
    run that goes on from another model has no untrained stage.
    """
    curve = read_loss_curve(run)
    steps = choose_milestones(
        [*list_snapshots(run, MILESTONES), *list_snapshots(run)], curve, trained.step
    )
    between = [
        Stage(
            name, found.step, require_matching_tensors(found.weights(), trained.weights, file=run)
        )
        for name, found in steps
    ]
    first = [] if PARENT in read_run(run).fingerprints else [build_untrained_stage(translator)]
    return [*first, *between, trained], curve


def build_untrained_stage(translator: Translator) -> Stage:
    """Return the random weights before the first update, which follow from the recipe's seed."""
    recipe, task = translator.recipe, translator.task
    model = build_transformer(
        recipe.architecture, len(task.source), len(task.target), recipe.training.seed
    )
    return Stage("untrained", 0, model.named_weights())


def read_loss_curve(run: Path) -> Curve:
    """Return at most 200 points of a run's training loss; [] for a run without a readable log."""
    try:
        updates = read_run_log(run).updates
    except InputError:
        return []
    finite = updates.step[np.isfinite(updates.nats)]
    points: Curve = [
        [round(step), round(nats, 4)] for step, nats in average_evenly(updates, CURVE_POINTS)
    ]
    if points:
        points[0][0], points[-1][0] = float(finite[0]), float(finite[-1])
    return points


def choose_milestones(
    found: Sequence[Snapshot], curve: Curve, last: int | None
) -> list[tuple[str, Snapshot]]:
    """Return (name, snapshot) of up to two milestones before step `last`, in the order of steps."""
    earlier = [one for one in found if last is None or one.step < last]
    if not earlier or not curve:
        return []
    middle = (curve[0][1] + curve[-1][1]) / 2

    def distance(one: Snapshot) -> float:
        _, loss = min(curve, key=lambda point: abs(point[0] - one.step))
        return abs(loss - middle)

    early = min(earlier, key=distance)
    half = min(earlier, key=lambda one: abs(2 * one.step - (last or curve[-1][0])))
    if early.step >= half.step:
        return [("half-trained", half)]
    return [("early", early), ("half-trained", half)]
