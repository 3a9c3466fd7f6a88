"""One step's folder in a run: written once, verified when read, deleted with care."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from transduce.checkpoint.run import run_id
from transduce.durable import (
    VerifiedFolder,
    atomic_folder,
    list_names,
    open_folder,
    remove_folder,
    sync_folder,
)
from transduce.durable.write_errors import raise_save_errors
from transduce.errors import FolderError, SaveError

STEP = re.compile(r"step-([0-9]{8,})")
CHECKPOINTS, SNAPSHOTS = "checkpoints", "snapshots"
KINDS = {CHECKPOINTS: "save", SNAPSHOTS: "snapshot"}  # by the folder in the run
Makers = Mapping[str, Callable[[], bytes]]  # files, made one at a time: they are large


def write_step(place: Path, step: int, files: Makers, size: int) -> None:
    """Keep a step; when this returns, it is on the disk. A step that is kept already stays."""
    folder = step_folder(place, step)
    try:
        require_no_link(place)
        about = {"run": run_id(place.parent), "step": step}
    except FolderError as fault:  # it may be readable the next time
        raise SaveError(fault.fact, fault.hint) from fault
    if os.path.lexists(folder):
        if is_sound(place, step):
            with raise_save_errors(place):
                sync_folder(place)  # who wrote it may have died between rename and this
            return
        remove_folder(folder)
    require_room(place.parent, size, folder)
    with atomic_folder(folder, kind=KINDS[place.name], about=about) as writer:
        for name, make in files.items():
            writer.write(name, make())


def open_step(place: Path, step: int) -> VerifiedFolder:
    """A step's folder, if it is this step's and this run's."""
    folder = step_folder(place, step)
    found = open_folder(folder, KINDS[place.name])
    expected = {"run": run_id(place.parent), "step": step}
    if found.about != expected:
        fact = f"says that it is {dict(found.about)}, and {expected} is expected here"
        raise FolderError(fact, "put it back where it was", file=folder / "manifest.json")
    return found


def is_sound(place: Path, step: int) -> bool:
    """Whether every byte of a step is as it was written."""
    with suppress(FolderError):
        open_step(place, step).verify()
        return True
    return False


def step_folder(place: Path, step: int) -> Path:
    """Where a step is kept: names stand in the order of the steps."""
    return place / f"step-{step:08d}"


def kept_steps(place: Path) -> list[int]:
    """The steps whose folders lie here, oldest first, sound or not."""
    require_no_link(place)
    if not place.is_dir():
        return []
    names = list_names(place)
    steps = (int(named[1]) for name in names if (named := STEP.fullmatch(name)))
    return sorted(step for step in steps if step_folder(place, step).name in names)


def require_no_link(place: Path) -> None:
    """A run writes and deletes in its own folder only."""
    if place.is_symlink():
        hint = "put the folder itself here, or name a link to the whole run"
        raise FolderError("is a link to another place", hint, file=place)


def remove_steps(place: Path, steps: list[int]) -> list[str]:
    """Delete what is this run's; what does not go is told and stands in nobody's way."""
    kept = []
    for step in steps:
        try:
            open_step(place, step)
            remove_folder(step_folder(place, step))
        except (FolderError, SaveError) as fault:
            kept.append(fault.fact)
    return kept


def require_room(run: Path, size: int, folder: Path) -> None:
    """Say so before the disk is filled to its last byte; only a hint, for quotas are not seen."""
    with raise_save_errors(run):
        disk = os.statvfs(run)
    free = disk.f_bavail * disk.f_frsize
    if disk.f_blocks and free < size:
        fact = f"needs {size / 1e6:,.1f} MB, and {free / 1e6:,.1f} MB are free on this disk"
        raise SaveError(fact, "free some space, then start the same command again", file=folder)
