"""Temporary names for unfinished files, and deletion of the files that killed processes left."""

import fcntl
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LEFTOVER = re.compile(r"\.(tmp|trash)-[0-9a-f]{16}-(?P<name>.+)", re.DOTALL)


def temporary_path(path: Path) -> Path:
    """Return a new random temporary path in the same folder, to be renamed to `path` later."""
    return path.with_name(f".tmp-{secrets.token_hex(8)}-{path.name}")


def trash_path(path: Path) -> Path:
    """Return a new random path in the same folder, for renaming `path` before its deletion."""
    return path.with_name(f".trash-{secrets.token_hex(8)}-{path.name}")


def mark_alive(descriptor: int) -> None:
    """Take a shared lock on an open file or folder, to show that a living process writes it."""
    with suppress(OSError):  # a file system without flock: there no file counts as abandoned
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def delete(path: Path) -> None:
    """Delete a file or folder and ignore errors; `delete_leftovers` deletes the rest later."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def delete_abandoned(path: Path) -> None:
    """Delete the temporary files of killed processes that were writing to this path."""
    for entry in list_entries(path.parent):
        found = LEFTOVER.fullmatch(entry.name)
        if found and found["name"] == path.name and is_abandoned(entry):
            delete(entry)


def delete_leftovers(folder: Path) -> None:
    """Delete the temporary files of killed processes in a folder and its direct subfolders."""
    for each in (folder, *(inner for inner in list_entries(folder) if is_plain_folder(inner))):
        for entry in list_entries(each):
            if LEFTOVER.fullmatch(entry.name) and is_abandoned(entry):
                delete(entry)


def list_entries(folder: Path) -> Iterator[Path]:
    """Yield the paths of a folder's entries; none if the folder cannot be read."""
    with suppress(OSError):
        yield from list(folder.iterdir())


def is_plain_folder(path: Path) -> bool:
    """Return whether a path is a visible folder and not a symbolic link."""
    return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")


def is_abandoned(path: Path) -> bool:
    """Return whether no living process holds the lock of a temporary file or folder."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


@contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """Context manager: create a temporary folder that only this user can open.

    Folders with this prefix that were left by killed processes of this user are deleted, too.
    """
    delete_abandoned_folders(prefix)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        mark_alive(descriptor)
        if folder.exists():  # no other process took it for abandoned before it was marked
            break
        os.close(descriptor)
    try:
        yield folder
    finally:
        os.close(descriptor)
        delete(folder)


def delete_abandoned_folders(prefix: str) -> None:
    """Delete this user's temporary folders with this prefix that no living process has marked."""
    for entry in list_entries(Path(tempfile.gettempdir())):
        if entry.name.startswith(prefix):
            with suppress(OSError):
                delete_if_abandoned(entry)


def delete_if_abandoned(folder: Path) -> None:
    """Delete a folder if this user owns it; raise OSError if a living process has marked it."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder, flags)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.getuid():
            delete(folder)
    finally:
        os.close(descriptor)
