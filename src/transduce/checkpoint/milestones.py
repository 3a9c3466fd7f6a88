"""Milestones: a few early snapshots of a small model, which show how it learned.

The step of each milestone is at least twice that of the one before. Milestones have a folder of
their own, because averaging takes only the last snapshots.
"""

from pathlib import Path

from transduce.checkpoint.steps import (
    MILESTONES,
    SNAPSHOTS,
    list_steps,
    open_step,
    step_folder,
)
from transduce.durable import ensure_folder
from transduce.durable.write_errors import raise_save_errors
from transduce.errors import FolderError, SaveError

MAX_BYTES = 24_000_000  # the largest snapshot that is kept: about 5 million weights


def keep_milestones(run: Path, old: list[int]) -> list[int]:
    """Move the milestones among the snapshots of steps `old` to a folder; return the other steps.

    A snapshot is a milestone if its files are small and its step is at least twice the last
    milestone's.
    """
    try:
        newest = max(list_steps(run / MILESTONES), default=0)
    except FolderError:
        return old
    others = []
    for step in old:
        if step >= 2 * newest and is_small(run, step) and move_to_milestones(run, step):
            newest = step
        else:
            others.append(step)
    return others


def is_small(run: Path, step: int) -> bool:
    """Return whether a snapshot belongs to this run and is small enough to keep as a milestone."""
    try:
        files = open_step(run / SNAPSHOTS, step).files
    except FolderError:
        return False
    return sum(entry.size for entry in files.values()) <= MAX_BYTES


def move_to_milestones(run: Path, step: int) -> bool:
    """Move a run's snapshot to its folder `milestones/`; return whether that was possible."""
    try:
        with raise_save_errors(run):
            ensure_folder(run / MILESTONES)
            step_folder(run / SNAPSHOTS, step).rename(step_folder(run / MILESTONES, step))
    except SaveError:
        return False
    return True
