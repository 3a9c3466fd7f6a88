"""Where a command puts what it makes: a new folder, or one of its own kind."""

import os
from collections.abc import Collection
from pathlib import Path

from transduce.errors import InputError


def demand_own(folder: Path, sign: str, ours: Collection[str], kind: str) -> None:
    """Refuse a file, and a folder that is somebody else's.

    It is ours if it has the file that is its sign, or nothing but what is written before that one.
    """
    if not os.path.lexists(folder) or os.path.lexists(folder / sign):
        return
    if not folder.is_dir() or any(
        entry.name not in ours and not entry.name.startswith(".") for entry in folder.iterdir()
    ):
        raise InputError(f"exists and is no {kind}", "choose another name", file=folder)
