"""Snapshots: weights and progress without moments, written for averaging    (section 6.1)"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from torch import Tensor

from transduce.checkpoint.resume import STATE, WEIGHTS, read_state, read_step_tensors
from transduce.checkpoint.steps import (
    CHECKPOINTS,
    MILESTONES,
    SNAPSHOTS,
    list_steps,
    open_step,
    step_folder,
    write_step,
)
from transduce.checkpoint.weights import require_finite, to_bytes
from transduce.durable.json import to_json


@final
@dataclass(frozen=True)
class Snapshot:
    """The step and folder of a snapshot; `weights()` reads its weights from the disk."""

    step: int
    folder: Path

    def weights(self) -> dict[str, Tensor]:
        """Return the snapshot's weights by name; FolderError if they are damaged."""
        found = open_step(self.folder.parent, self.step)
        return read_step_tensors(found, WEIGHTS)

    def state(self) -> dict[str, Any]:
        """Return the run's progress and environment at this step; {} in snapshots without them."""
        found = open_step(self.folder.parent, self.step)
        return read_state(found) if STATE in found.files else {}


def save_snapshot(
    run: Path,
    step: int,
    weights: Mapping[str, Tensor],
    state: Mapping[str, object] | None = None,
) -> Path:
    """Write a step's weights and state as a snapshot to the disk; return its folder."""
    require_finite(weights, f"step {step}")
    size = sum(tensor.nbytes for tensor in weights.values())
    files = {WEIGHTS: lambda: to_bytes(weights)}
    if state is not None:
        files[STATE] = lambda: to_json(state)
    write_step(run / SNAPSHOTS, step, files, size)
    return step_folder(run / SNAPSHOTS, step)


def has_snapshot(run: Path, step: int) -> bool:
    """Return whether a run has a snapshot of this step."""
    return step_folder(run / SNAPSHOTS, step).is_dir()


def list_snapshots(run: Path) -> list[Snapshot]:
    """Return all snapshots of a run for averaging, oldest first."""
    return list_snapshots_in(run / SNAPSHOTS)


def list_last_checkpoint(run: Path) -> list[Snapshot]:
    """Return a run's last checkpoint as a snapshot, alone in a list; [] before the first update."""
    return [one for one in list_snapshots_in(run / CHECKPOINTS)[-1:] if one.step]


def list_milestones(run: Path) -> list[Snapshot]:
    """Return the early snapshots that a run has kept as milestones, oldest first."""
    return list_snapshots_in(run / MILESTONES)


def list_snapshots_in(parent: Path) -> list[Snapshot]:
    """Return all snapshots in a folder, oldest first."""
    return [Snapshot(step, step_folder(parent, step)) for step in list_steps(parent)]
