"""The weights that a page holds: those of stages of the training, in 8, 16 or 32 bits.

A page computes with the weights as it stores them. Comparisons must use the same numbers, which
are `StoredWeights.tensors`.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float32
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
from transduce.paper.model import Transformer, build_transformer
from transduce.runs.average import average_snapshots
from transduce.runs.ledger import PARENT
from transduce.settings.fields import require
from transduce.settings.recipe import renew_title
from transduce.view.curves.curves import average_evenly
from transduce.view.curves.read_log import read_run_log

CURVE_POINTS = 200  # the number of points of the loss curve in the page
HALF_LIMIT = 65_504.0  # the largest float16
Encoded = tuple[bytes, Float32[np.ndarray, "..."]]
Curve = list[list[float | int]]  # [step, loss in nats per target piece], by step


@final
@dataclass(frozen=True, eq=False)
class Stage:
    """The weights of a model at one time of its training."""

    name: str  # such as "trained"
    step: int | None  # the number of updates so far; None if no run is known
    weights: Mapping[str, Tensor]


def read_trained_stage(translator: Translator) -> Stage:
    """Return the weights of a translator's first model as the stage named "trained"."""
    return Stage("trained", None, read_weights(translator.models[0]))


def load_trained_stage(run: Path) -> tuple[Translator, Stage]:
    """Return the mean of a run's last snapshots as a translator and as a training stage.

    A run without any snapshot is loaded with its newest checkpoint.
    """
    translator, stored = load(run), read_run_model(run)
    stage = read_trained_stage(translator)
    if not list_snapshots(run):
        return translator, replace(stage, step=stored.updates)
    steps, weights, _ = average_snapshots(run, None)
    model = build_stored_model(replace(stored, weights=weights)).eval()
    equip_for_inference(model)
    recipe = renew_title(translator.recipe, steps[-1])
    translator = replace(translator, models=(model,), recipe=recipe, hashes=(), reload=None)
    name = f"trained (mean of {len(steps)} snapshots)" if len(steps) > 1 else "trained"
    return translator, replace(read_trained_stage(translator), name=name, step=steps[-1])


def read_run_stages(run: Path, translator: Translator, trained: Stage) -> tuple[list[Stage], Curve]:
    """Return a run's stages, from untrained to `trained`, and its loss curve.

    Between the two are at most two milestones that the run has kept: the one whose loss is nearest
    to halfway between the first and the last loss, and the one nearest to half of the updates. A
    run that goes on from another model has no untrained stage.
    """
    curve = read_loss_curve(run)
    milestones = choose_milestones(
        [*list_snapshots(run, MILESTONES), *list_snapshots(run)], curve, trained.step
    )
    between = [
        Stage(
            name, found.step, require_matching_tensors(found.weights(), trained.weights, file=run)
        )
        for name, found in milestones
    ]
    first = [] if PARENT in read_run(run).fingerprints else [build_untrained_stage(translator)]
    return [*first, *between, trained], curve


def build_untrained_stage(translator: Translator) -> Stage:
    """Draw a model's first weights again by its recipe's seed; return them as a training stage."""
    recipe, task = translator.recipe, translator.task
    model = build_transformer(
        recipe.architecture, len(task.source), len(task.target), recipe.training.seed
    )
    return Stage("untrained", 0, model.named_weights())


def read_loss_curve(run: Path) -> Curve:
    """Return at most 200 averaged points (step, training loss); [] without a log or any loss."""
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
    milestones: Sequence[Snapshot], curve: Curve, last: int | None
) -> list[tuple[str, Snapshot]]:
    """Return ("early", snapshot) and ("half-trained", snapshot), or only the latter, or neither.

    Both are from before step `last`, if it is given; `read_run_stages` says which they are.
    """
    earlier = [one for one in milestones if last is None or one.step < last]
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


# --- How a page holds weights ---------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class StoredWeights:
    """A checkpoint's weights in an HTML page: compressed bytes, their layout, decoded tensors."""

    block: bytes
    layout: list[dict[str, Any]]  # name, shape, type, offset and size of each tensor
    tensors: Mapping[str, Tensor]  # the weights that the page computes with


def encode_halves(values: Float32[np.ndarray, "..."]) -> Encoded:
    """Encode numbers as float16, high bytes before low bytes; also return the rounded numbers."""
    halves = values.astype("<f2")
    pairs = halves.reshape(-1).view(np.uint8).reshape(-1, 2)
    return pairs[:, ::-1].T.tobytes(), halves.astype(np.float32)


def encode_bytes(values: Float32[np.ndarray, "..."]) -> Encoded:
    """Encode numbers as signed bytes with a scale per row; also return the rounded numbers."""
    rows = values.reshape(len(values), -1)
    scales = (np.abs(rows).max(axis=1, keepdims=True) / 127).astype("<f4")
    signed = np.rint(rows / np.where(scales > 0, scales, 1)).astype(np.int8)
    rounded = (signed.astype(np.float64) * scales).astype(np.float32)
    return scales.tobytes() + signed.tobytes(), rounded.reshape(values.shape)


def encode_floats(values: Float32[np.ndarray, "..."]) -> Encoded:
    """Encode numbers as little-endian float32, exactly; also return the numbers."""
    return values.astype("<f4").tobytes(), values


ENCODINGS: Mapping[str, Callable[[Float32[np.ndarray, "..."]], Encoded]] = {
    "float16": encode_halves,
    "int8": encode_bytes,
    "float32": encode_floats,
}


def store_weights(weights: Mapping[str, Tensor], number_format: str) -> StoredWeights:
    """Return weights as a block of a page; `number_format` is "float16", "int8" or "float32".

    Vectors such as biases have 16 bits when matrices have 8. A tensor that float16 cannot hold is
    stored as float32. Raises InputError for another format.
    """
    require(
        number_format in ENCODINGS,
        f"unknown numbers {number_format!r}",
        f"known: {', '.join(ENCODINGS)}",
    )
    layout, parts, page_tensors, offset = [], [], dict[str, Tensor](), 0
    for name, tensor in weights.items():
        values = tensor.detach().float().cpu().contiguous().numpy()
        kind = choose_number_format(values, number_format)
        content, stored = ENCODINGS[kind](values)
        layout.append(
            {"name": name, "shape": list(values.shape), "type": kind}
            | {"offset": offset, "size": len(content)}
        )
        parts.append(content)
        page_tensors[name] = torch.from_numpy(stored.copy())
        offset += len(content)
    return StoredWeights(zlib.compress(b"".join(parts), 9), layout, page_tensors)


def choose_number_format(values: Float32[np.ndarray, "..."], wanted: str) -> str:
    """Return the number format to store a tensor in: `wanted`, or a finer one if needed."""
    if wanted == "int8" and values.ndim < 2:
        wanted = "float16"
    if wanted == "float16" and values.size and float(np.abs(values).max()) > HALF_LIMIT:
        return "float32"
    return wanted


def read_weights(model: Transformer) -> dict[str, Tensor]:
    """Return all weights of a model by name; weights packed for inference are unpacked."""
    packed = {
        f"{name}.weight": module.unpack()
        for name, module in model.named_modules()
        if hasattr(module, "unpack") and module is not model.output_projection
    }
    return {**model.named_weights(), **packed}
