"""Checks and the lock of a folder that is written: it is new, or of the same kind already."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from transduce.durable import lock_folder
from transduce.errors import InputError


def require_own_folder(folder: Path, sign: str, ours: Collection[str], kind: str) -> None:
    """Refuse a file, and a folder of another kind than `kind`.

    A folder is of that kind if it has the file `sign`, or only files that are written before it.
    """
    if not os.path.lexists(folder) or os.path.lexists(folder / sign):
        return
    if not folder.is_dir() or any(
        entry.name not in ours and not entry.name.startswith(".") for entry in folder.iterdir()
    ):
        raise InputError(f"exists and is no {kind}", "choose another name", file=folder)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder; a new one in which nothing was made before an error is deleted again."""
    new = not folder.exists()
    with lock_folder(folder):
        try:
            yield
        except BaseException:
            if new and [entry.name for entry in folder.iterdir()] == ["lock"]:
                (folder / "lock").unlink()
                folder.rmdir()
            raise
