"""Snapshots: weights only, on the paper's clock, to be averaged    (section 6.1)"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from torch import Tensor

from transduce.checkpoint.saves import WEIGHTS
from transduce.checkpoint.steps import SNAPSHOTS, kept_steps, open_step, step_folder, write_step
from transduce.checkpoint.weights import from_bytes, require_finite, to_bytes


@final
@dataclass(frozen=True)
class Snapshot:
    """Where a step's weights lie; they are read, and verified, one snapshot at a time."""

    step: int
    folder: Path

    def weights(self) -> dict[str, Tensor]:
        """The weights, every byte verified."""
        found = open_step(self.folder.parent, self.step)
        return from_bytes(found.read(WEIGHTS), found.folder / WEIGHTS)


def save_snapshot(run: Path, step: int, weights: Mapping[str, Tensor]) -> Path:
    """Keep a step's weights; when this returns, they are on the disk."""
    require_finite(weights, f"step {step}")
    size = sum(tensor.nbytes for tensor in weights.values())
    write_step(run / SNAPSHOTS, step, {WEIGHTS: lambda: to_bytes(weights)}, size)
    return step_folder(run / SNAPSHOTS, step)


def has_snapshot(run: Path, step: int) -> bool:
    """Whether a step's weights are kept."""
    return step_folder(run / SNAPSHOTS, step).is_dir()


def snapshots(run: Path) -> list[Snapshot]:
    """All snapshots of a run, oldest first."""
    place = run / SNAPSHOTS
    return [Snapshot(step, step_folder(place, step)) for step in kept_steps(place)]
