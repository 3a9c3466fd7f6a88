"""Checkpoints, to resume training bit for bit, and snapshots, to average them    (section 6.1)

A checkpoint has weights, Adam's moments and the run's progress; a snapshot has no moments.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, final

from torch import Tensor

from transduce.checkpoint.steps import (
    CHECKPOINTS,
    MILESTONES,
    SNAPSHOTS,
    is_intact,
    list_steps,
    open_step,
    remove_steps,
    step_folder,
    write_step,
)
from transduce.checkpoint.weights import Tensors, read_tensors, require_finite, to_bytes
from transduce.durable.files import ensure_folder, raise_save_errors
from transduce.durable.folder import VerifiedFolder
from transduce.durable.json import read_json, to_json
from transduce.errors import FolderError, SaveError

WEIGHTS = "model.safetensors"
MOMENTS = "moments.safetensors"
STATE = "state.json"
STATE_LIMIT = 1 << 20


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """A checkpoint's weights, moments and state, verified against its folder's manifest."""

    step: int
    folder: Path
    weights: dict[str, Tensor]
    moments: dict[str, Tensor]  # Adam's two moment estimates of each weight, unless left out
    state: dict[str, Any]  # the run's progress and environment, such as package versions
    hash: str  # sha256 of the manifest, which lists the sha256 of every file


def save_checkpoint(
    run: Path,
    step: int,
    weights: Mapping[str, Tensor],
    moments: Mapping[str, Tensor],
    state: Mapping[str, object],
    *,
    replaces: bool = False,
) -> Path:
    """Write a checkpoint and return its path; NotFiniteError if a tensor has NaN or infinity.

    An intact checkpoint of the step stays as it is, unless `replaces`.
    """
    tensors = {WEIGHTS: weights, MOMENTS: moments}
    return write_tensors(run / CHECKPOINTS, step, tensors, state, replaces=replaces)


def has_checkpoints(run: Path) -> bool:
    """Return whether a run has any checkpoint, intact or damaged."""
    return bool(list_steps(run / CHECKPOINTS))


def load_newest_checkpoint(
    run: Path, weight_count: int | None = None
) -> tuple[Checkpoint | None, list[tuple[Path, str]]]:
    """Return (newest intact checkpoint, newer damaged ones); FolderError if all are damaged.

    The checkpoint is None if the run has none. Each damaged checkpoint is (folder, reason). If
    `weight_count` is given, the moments are left out, and a checkpoint with another number of
    weights counts as damaged.
    """
    while steps := list_steps(run / CHECKPOINTS):
        rejected = list[tuple[Path, str]]()
        for step in reversed(steps):
            try:
                return load_checkpoint(run, step, weight_count), rejected
            except FolderError as fault:
                rejected.append((step_folder(run / CHECKPOINTS, step), fault.fact))
        if list_steps(run / CHECKPOINTS) == steps:
            reasons = "; ".join(reason for _, reason in rejected)
            raise FolderError(
                f"none of its {len(rejected)} checkpoints can be used: {reasons}",
                "put back an intact copy of one, or delete them and the snapshots to start from "
                "the first step",
                file=run,
            )
        # another process trains this run and has replaced these checkpoints by newer ones
    return None, []


def load_checkpoint(run: Path, step: int, weight_count: int | None = None) -> Checkpoint:
    """Return a step's checkpoint; FolderError for damage or another number of weights.

    If `weight_count` is given, the moments are left out, because translation does not need them.
    Their file's sha256 is still verified.
    """
    opened = open_step(run / CHECKPOINTS, step)
    if weight_count is None:
        moments = read_step_tensors(opened, MOMENTS)
    else:
        opened.verified_path(MOMENTS)
        moments = {}
    return Checkpoint(
        step=step,
        folder=opened.folder,
        weights=read_step_tensors(opened, WEIGHTS, weight_count),
        moments=moments,
        state=read_state(opened),
        hash=opened.hash,
    )


def read_state(opened: VerifiedFolder) -> dict[str, Any]:
    """Return {"progress": …, "environment": …} from the state.json of a step's folder."""
    return read_json(opened.read(STATE, STATE_LIMIT), opened.folder / STATE)


def read_step_tensors(opened: VerifiedFolder, name: str, value_count: int | None = None) -> Tensors:
    """Return a file's tensors by name; FolderError if damaged or not of `value_count` values.

    `value_count` is the number of values of all tensors together, if known.
    """
    with opened.open(name) as stream:
        return read_tensors(stream, opened.folder / name, value_count)


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
        """Return {"progress": …, "environment": …} at this step; {} in a snapshot without them."""
        found = open_step(self.folder.parent, self.step)
        return read_state(found) if STATE in found.files else {}


def save_snapshot(
    run: Path,
    step: int,
    weights: Mapping[str, Tensor],
    state: Mapping[str, object] | None = None,
) -> Path:
    """Write a snapshot unless the step has an intact one; return its path; refuse NaN or inf."""
    return write_tensors(run / SNAPSHOTS, step, {WEIGHTS: weights}, state)


def write_tensors(
    parent: Path,
    step: int,
    tensors: Mapping[str, Mapping[str, Tensor]],
    state: Mapping[str, object] | None,
    *,
    replaces: bool = False,
) -> Path:
    """Write tensors and any state to a step's folder, and return its path.

    An intact folder stays as it is, unless `replaces`. NotFiniteError if a tensor has NaN or
    infinity.
    """
    for each in tensors.values():
        require_finite(each, f"step {step}")
    size = sum(tensor.nbytes for each in tensors.values() for tensor in each.values())
    files = {name: partial(to_bytes, each) for name, each in tensors.items()}
    if state is not None:
        files[STATE] = partial(to_json, state)
    write_step(parent, step, files, size, replaces=replaces)
    return step_folder(parent, step)


def list_snapshots(run: Path, place: str = SNAPSHOTS) -> list[Snapshot]:
    """Return the snapshots in the subfolder `place` of a run, in ascending order of step.

    SNAPSHOTS, the default, has those that are averaged; MILESTONES has early ones. Checkpoints can
    be read as snapshots, too.
    """
    return [Snapshot(step, step_folder(run / place, step)) for step in list_steps(run / place)]


def select_regular(steps: Sequence[int], every: int) -> list[int]:
    """Return the newest of the ascending `steps`, and those that are multiples of `every`.

    Any other step was the last of a run that later got more updates. A run with these updates from
    its start has no snapshot of this step.
    """
    return [step for step in steps if step % every == 0 or step == steps[-1]]


def prune(run: Path, snapshot_count: int, every: int) -> list[str]:
    """Delete all but the last 2 checkpoints and `snapshot_count` snapshots; return error messages.

    The last snapshots are those of `select_regular` with `every`. If both checkpoints are damaged,
    the newest intact one stays, too. Old snapshots that are milestones are moved to their own
    folder instead.
    """
    assert snapshot_count > 0, "the last snapshot is never deleted"
    parent = run / CHECKPOINTS
    try:
        steps, snapshots = list_steps(parent), list_steps(run / SNAPSHOTS)
    except FolderError as fault:
        return [fault.fact]
    last = select_regular(snapshots, every)[-snapshot_count:]
    old_snapshots = [step for step in snapshots if step not in last]
    old = steps[:-2]
    if old:  # keep an older intact checkpoint if the last two are damaged
        intact = next((step for step in reversed(steps) if is_intact(parent, step)), None)
        old = [step for step in old if step != intact]
    return remove_steps(parent, old) + remove_steps(
        run / SNAPSHOTS, keep_milestones(run, old_snapshots)
    )


MAX_BYTES = 24_000_000  # of a milestone: up to 6 million weights in float32


def keep_milestones(run: Path, old: list[int]) -> list[int]:
    """Move `old` steps' snapshots that are milestones to `milestones/`; return the other steps.

    A snapshot is a milestone if its files are small and its step is at least twice the step of the
    last milestone.
    """
    try:
        newest = max(list_steps(run / MILESTONES), default=0)
    except FolderError:
        return old
    others = []
    for step in old:
        if step >= 2 * newest and move_to_milestones(run, step):
            newest = step
        else:
            others.append(step)
    return others


def move_to_milestones(run: Path, step: int) -> bool:
    """Move a snapshot to `milestones/` if it is small; return whether it was moved."""
    try:
        files = open_step(run / SNAPSHOTS, step).files
        if sum(entry.size for entry in files.values()) > MAX_BYTES:
            return False
        with raise_save_errors(run):
            ensure_folder(run / MILESTONES)
            step_folder(run / SNAPSHOTS, step).rename(step_folder(run / MILESTONES, step))
    except (FolderError, SaveError):
        return False
    return True
