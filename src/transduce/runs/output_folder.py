"""Where a command puts what it makes: a new folder, or one of its own kind."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from transduce.durable import lock_folder
from transduce.errors import InputError


def require_own(folder: Path, sign: str, ours: Collection[str], kind: str) -> None:
    """Refuse a file, and a folder that is somebody else's.

    It is ours if it has the file that is its sign, or nothing but what is written before that one.
    """
    if not os.path.lexists(folder) or os.path.lexists(folder / sign):
        return
    if not folder.is_dir() or any(
        entry.name not in ours and not entry.name.startswith(".") for entry in folder.iterdir()
    ):
        raise InputError(f"exists and is no {kind}", "choose another name", file=folder)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a folder; a new one in which nothing was made before a mistake goes with it."""
    new = not folder.exists()
    with lock_folder(folder):
        try:
            yield
        except BaseException:
            if new and [entry.name for entry in folder.iterdir()] == ["lock"]:
                (folder / "lock").unlink()
                folder.rmdir()
            raise
