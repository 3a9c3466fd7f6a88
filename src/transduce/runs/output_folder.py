"""Checks that an output folder is new or of the expected kind, and its lock during writing."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from transduce.durable import lock_folder
from transduce.durable.temporary import delete, list_entries
from transduce.errors import InputError


def require_own_folder(folder: Path, sign: str, ours: Collection[str], kind: str) -> None:
    """Refuse an existing path that has neither the file `sign` nor only files named in `ours`.

    Such a folder is no folder of the given kind, such as "run": the files `ours` are written before
    `sign`. Hidden files are allowed.
    """
    if not os.path.lexists(folder) or os.path.lexists(folder / sign):
        return
    if not folder.is_dir() or any(
        entry.name not in ours and not entry.name.startswith(".") for entry in folder.iterdir()
    ):
        raise InputError(f"exists and is no {kind}", "choose another name", file=folder)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Create and lock a folder for a with block; after an error, delete it if new and empty."""
    new = not folder.exists()
    with lock_folder(folder):
        try:
            yield
        except BaseException:
            if new and [entry.name for entry in list_entries(folder)] == ["lock"]:
                delete(folder)  # ignores errors: the one that is raised matters
            raise
