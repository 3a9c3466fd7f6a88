"""Check that an output folder is new or of the expected kind, and lock it during writing"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from transduce.durable.files import delete, list_entries, new_folders
from transduce.durable.folder import require_harmless_output
from transduce.durable.lock import lock_folder
from transduce.errors import InputError


def require_own_folder(folder: Path, sign: str, ours: Collection[str], kind: str) -> None:
    """Refuse an existing path unless it holds the file `sign`, or only files named in `ours`.

    The files `ours` are written before `sign`. Hidden files are allowed. `kind` is what the folder
    is to be, such as "run". A path inside a model, a store or another folder of its kind is
    refused, too.
    """
    require_harmless_output(folder)
    for above in Path(os.path.realpath(folder)).parents:
        if (above / sign).is_file():
            raise InputError(
                f"lies in another {kind}", f"choose a place outside {above}", file=folder
            )
    if not os.path.lexists(folder) or os.path.lexists(folder / sign):
        return
    if not folder.is_dir() or any(
        entry.name not in ours and not entry.name.startswith(".") for entry in folder.iterdir()
    ):
        raise InputError(f"exists and is no {kind}", "choose another name", file=folder)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Context manager that creates and locks a folder; an error deletes it if new and empty.

    Folders around it that were created for it are deleted, too.
    """
    is_new = not folder.exists()
    with new_folders(folder.parent), lock_folder(folder):
        try:
            yield
        except BaseException:
            if is_new and [entry.name for entry in list_entries(folder)] == ["lock"]:
                delete(folder)  # ignores its own errors, because the one that is raised matters
            raise
