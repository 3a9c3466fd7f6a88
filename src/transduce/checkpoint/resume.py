"""Checkpoints: weights, moments and progress, from which training resumes to the same bits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from torch import Tensor

from transduce.checkpoint.steps import (
    CHECKPOINTS,
    SNAPSHOTS,
    is_intact,
    list_steps,
    open_step,
    remove_steps,
    step_folder,
    write_step,
)
from transduce.checkpoint.weights import from_bytes, require_finite, to_bytes
from transduce.durable import read_json, to_json
from transduce.errors import FolderError

WEIGHTS = "model.safetensors"
MOMENTS = "moments.safetensors"
STATE = "state.json"
STATE_LIMIT = 1 << 20


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """The contents of one checkpoint, every byte verified."""

    step: int
    folder: Path
    weights: dict[str, Tensor]
    moments: dict[str, Tensor]
    state: dict[str, Any]
    hash: str  # of the manifest, and so of the whole folder


def save_checkpoint(
    run: Path,
    step: int,
    weights: Mapping[str, Tensor],
    moments: Mapping[str, Tensor],
    state: Mapping[str, object],
) -> Path:
    """Write a step's checkpoint and sync it to the disk; return its folder."""
    require_finite({**weights, **moments}, f"step {step}")
    size = sum(tensor.nbytes for tensor in (*weights.values(), *moments.values()))
    files = {
        WEIGHTS: lambda: to_bytes(weights),
        MOMENTS: lambda: to_bytes(moments),
        STATE: lambda: to_json(state),
    }
    write_step(run / CHECKPOINTS, step, files, size)
    return step_folder(run / CHECKPOINTS, step)


def has_checkpoints(run: Path) -> bool:
    """Whether a run has any checkpoint, damaged or not."""
    return bool(list_steps(run / CHECKPOINTS))


def load_newest_checkpoint(run: Path) -> tuple[Checkpoint | None, list[tuple[Path, str]]]:
    """Load the intact checkpoint of the highest step; also list newer damaged ones with reasons.

    None if the run has no checkpoint; FolderError if it has some and none is intact.
    """
    while steps := list_steps(run / CHECKPOINTS):
        checkpoint, rejected = load_first_intact(run, steps[::-1])
        if checkpoint is not None:
            return checkpoint, rejected
        if list_steps(run / CHECKPOINTS) == steps:
            reasons = "; ".join(reason for _, reason in rejected)
            raise FolderError(
                f"none of its {len(rejected)} checkpoints can be used: {reasons}",
                "put back an intact copy of one, or delete them all to start from the first step",
                file=run,
            )
        # another process trains this run, and has deleted them for newer ones
    return None, []


def load_first_intact(
    run: Path, steps: list[int]
) -> tuple[Checkpoint | None, list[tuple[Path, str]]]:
    """Load the first intact checkpoint of these steps; also list the damaged ones before it."""
    rejected: list[tuple[Path, str]] = []
    for step in steps:
        try:
            return load_checkpoint(run, step), rejected
        except FolderError as fault:
            rejected.append((step_folder(run / CHECKPOINTS, step), fault.fact))
    return None, rejected


def load_checkpoint(run: Path, step: int) -> Checkpoint:
    """Load one step's checkpoint, every byte verified."""
    opened = open_step(run / CHECKPOINTS, step)
    return Checkpoint(
        step=step,
        folder=opened.folder,
        weights=from_bytes(opened.read(WEIGHTS), opened.folder / WEIGHTS),
        moments=from_bytes(opened.read(MOMENTS), opened.folder / MOMENTS),
        state=read_json(opened.read(STATE, STATE_LIMIT), opened.folder / STATE),
        hash=opened.hash,
    )


def prune(run: Path, snapshots: int) -> list[str]:
    """Delete all but two checkpoints and the last so many snapshots; return what went wrong."""
    assert snapshots > 0, "the last snapshot is never deleted"
    parent = run / CHECKPOINTS
    try:
        steps, old_snapshots = list_steps(parent), list_steps(run / SNAPSHOTS)[:-snapshots]
    except FolderError as fault:
        return [fault.fact]
    old = steps[:-2]
    if old:  # should neither of the last two be intact, the newest that is stays too
        intact = next((step for step in reversed(steps) if is_intact(parent, step)), None)
        old = [step for step in old if step != intact]
    return remove_steps(parent, old) + remove_steps(run / SNAPSHOTS, old_snapshots)
