"""Folders of one step's checkpoint or snapshot: written atomically, verified when read."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from transduce.checkpoint.run_file import read_run_id
from transduce.durable.files import raise_save_errors, require_disk_space, sync_folder
from transduce.durable.folder import (
    VerifiedFolder,
    atomic_folder,
    list_names,
    open_folder,
    remove_folder,
)
from transduce.errors import FolderError, SaveError

STEP = re.compile(r"step-([0-9]{8,})")
CHECKPOINTS, SNAPSHOTS, MILESTONES = "checkpoints", "snapshots", "milestones"
# kind of step folder by name of the parent folder; the manifests name the kind
KIND_OF_FOLDER = {CHECKPOINTS: "checkpoint", SNAPSHOTS: "snapshot", MILESTONES: "snapshot"}
# functions by file name that return the file's bytes, called one at a time to save memory
FileMakers = Mapping[str, Callable[[], bytes]]


def write_step(
    parent: Path, step: int, files: FileMakers, size: int, *, replaces: bool = False
) -> None:
    """Write a step's files; SaveError if `size` bytes do not fit.

    An intact folder of the step stays as it is, unless `replaces`.
    """
    folder = step_folder(parent, step)
    try:
        require_real_folder(parent)
        about = {"run": read_run_id(parent.parent), "step": step}
    except FolderError as fault:  # after a SaveError training continues and writes again later
        raise SaveError(fault.fact, fault.hint) from fault
    whole = os.path.lexists(folder) and is_intact(parent, step)
    if os.path.lexists(folder) and not (whole and replaces):
        if whole:
            with raise_save_errors(parent):
                sync_folder(parent)  # a crash may have prevented this sync before
            return
        remove_folder(folder)
    hint = "free some space, then start the same command again"
    require_disk_space(parent.parent, size, folder, hint)
    kind, may_replace = KIND_OF_FOLDER[parent.name], (lambda _: None) if whole else None
    with atomic_folder(folder, kind=kind, about=about, require_free=may_replace) as writer:
        for name, make in files.items():
            writer.write(name, make())


def open_step(parent: Path, step: int) -> VerifiedFolder:
    """Open a step's folder for reading; FolderError if damaged, or of another run or step."""
    folder = step_folder(parent, step)
    opened = open_folder(folder, KIND_OF_FOLDER[parent.name])
    expected = {"run": read_run_id(parent.parent), "step": step}
    if opened.about != expected:
        where = f"step {opened.about.get('step')} of run {opened.about.get('run')}"
        fact = f"says that it is of {where}, not step {step} of run {expected['run']}"
        raise FolderError(fact, "put it back where it was", file=folder / "manifest.json")
    return opened


def is_intact(parent: Path, step: int) -> bool:
    """Return whether every file of a step's folder matches its checksum in the manifest."""
    with suppress(FolderError):
        open_step(parent, step).verify()
        return True
    return False


def step_folder(parent: Path, step: int) -> Path:
    """Return the path of a step's folder, such as checkpoints/step-00012000."""
    return parent / f"step-{step:08d}"


def list_steps(parent: Path) -> list[int]:
    """Return the steps with a folder in `parent`, in order; FolderError if `parent` is a link."""
    require_real_folder(parent)
    if not parent.is_dir():
        return []
    names = list_names(parent)
    steps = (int(match[1]) for name in names if (match := STEP.fullmatch(name)))
    return sorted(step for step in steps if step_folder(parent, step).name in names)


def find_newest_step(run: Path) -> int | None:
    """Return the step of a run's newest checkpoint, None if it has none.

    A folder is no checkpoint unless its manifest names its step and this run.
    """
    for step in reversed(list_steps(run / CHECKPOINTS)):
        with suppress(FolderError):
            open_step(run / CHECKPOINTS, step)
            return step
    return None


def require_real_folder(parent: Path) -> None:
    """Raise FolderError if a path is a link or a file. A run writes only in its own folder."""
    if parent.is_symlink():
        hint = "put the folder itself here, or name a link to the whole run"
        raise FolderError("is a link to another place", hint, file=parent)
    if parent.exists() and not parent.is_dir():
        raise FolderError(
            "is no folder", "put the folder back, or move this file elsewhere", file=parent
        )


def remove_steps(parent: Path, steps: list[int]) -> list[str]:
    """Delete the steps' folders that `open_step` accepts; return a message for each that stays."""
    problems = []
    for step in steps:
        try:
            open_step(parent, step)
            remove_folder(step_folder(parent, step))
        except (FolderError, SaveError) as fault:
            problems.append(fault.fact)
    return problems
