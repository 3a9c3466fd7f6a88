"""Resume saves: all that training needs to go on as if it had never stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from torch import Tensor

from transduce.checkpoint.steps import (
    CHECKPOINTS,
    SNAPSHOTS,
    is_sound,
    kept_steps,
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
class Save:
    """One verified resume save."""

    step: int
    folder: Path
    weights: dict[str, Tensor]
    moments: dict[str, Tensor]
    state: dict[str, Any]
    hash: str  # of the manifest: processes that load the same save can say so


def save(
    run: Path,
    step: int,
    weights: Mapping[str, Tensor],
    moments: Mapping[str, Tensor],
    state: Mapping[str, object],
) -> Path:
    """Keep a step for resuming; when this returns, a power cut cannot take it away."""
    require_finite({**weights, **moments}, f"step {step}")
    size = sum(tensor.nbytes for tensor in (*weights.values(), *moments.values()))
    files = {
        WEIGHTS: lambda: to_bytes(weights),
        MOMENTS: lambda: to_bytes(moments),
        STATE: lambda: to_json(state),
    }
    write_step(run / CHECKPOINTS, step, files, size)
    return step_folder(run / CHECKPOINTS, step)


def has_saves(run: Path) -> bool:
    """Whether a run has come to its first save; it may be damaged since."""
    return bool(kept_steps(run / CHECKPOINTS))


def newest(run: Path) -> tuple[Save | None, list[tuple[Path, str]]]:
    """The highest step that is as it was written, and those above it that are not, with reasons."""
    while steps := kept_steps(run / CHECKPOINTS):
        save, rejected = newest_of(run, steps)
        if save is not None:
            return save, rejected
        if kept_steps(run / CHECKPOINTS) == steps:
            reasons = "; ".join(reason for _, reason in rejected)
            raise FolderError(
                f"none of its {len(rejected)} saves can be used: {reasons}",
                "put back a sound copy of a save, or delete them all to start from the first step",
                file=run,
            )
        # training goes on in another process, which has deleted them for newer ones
    return None, []


def newest_of(run: Path, steps: list[int]) -> tuple[Save | None, list[tuple[Path, str]]]:
    """The same of these steps."""
    rejected: list[tuple[Path, str]] = []
    for step in reversed(steps):
        try:
            return read_save(run, step), rejected
        except FolderError as fault:
            rejected.append((step_folder(run / CHECKPOINTS, step), fault.fact))
    return None, rejected


def read_save(run: Path, step: int) -> Save:
    """One step's save, every byte verified."""
    found = open_step(run / CHECKPOINTS, step)
    return Save(
        step=step,
        folder=found.folder,
        weights=from_bytes(found.read(WEIGHTS), found.folder / WEIGHTS),
        moments=from_bytes(found.read(MOMENTS), found.folder / MOMENTS),
        state=read_json(found.read(STATE, STATE_LIMIT), found.folder / STATE),
        hash=found.hash,
    )


def prune(run: Path, snapshots: int) -> list[str]:
    """Delete all but two saves and the last snapshots; the answer is what could not be deleted."""
    assert snapshots > 0, "the last snapshot is never deleted"
    place = run / CHECKPOINTS
    try:
        steps, old_snapshots = kept_steps(place), kept_steps(run / SNAPSHOTS)[:-snapshots]
    except FolderError as fault:
        return [fault.fact]
    going = steps[:-2]
    if going:  # should neither of the last two be sound, the newest that is stays too
        sound = next((step for step in reversed(steps) if is_sound(place, step)), None)
        going = [step for step in going if step != sound]
    return remove_steps(place, going) + remove_steps(run / SNAPSHOTS, old_snapshots)
