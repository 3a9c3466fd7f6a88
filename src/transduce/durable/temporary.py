"""Names for what is not finished yet, and the broom for what a killed process left."""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LEFTOVER = re.compile(r"\.(tmp|trash)-[0-9a-f]{16}-(?P<name>.+)", re.DOTALL)


def temporary_beside(path: Path) -> Path:
    """A new name in the same folder: a rename to another file system would fail."""
    return path.with_name(f".tmp-{secrets.token_hex(8)}-{path.name}")


def trash_beside(path: Path) -> Path:
    """The name under which something waits for its deletion."""
    return path.with_name(f".trash-{secrets.token_hex(8)}-{path.name}")


def mark_alive(descriptor: int) -> None:
    """Tell the broom that somebody works here; the mark goes with the process, however it ends."""
    with suppress(OSError):  # a file system without flock: then there is nothing to tell
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def discard(path: Path) -> None:
    """Delete a file or folder of ours; what cannot be deleted now is a leftover for later."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def discard_abandoned(path: Path) -> None:
    """Delete what killed processes left beside a path when they wrote under this very name."""
    for entry in entries(path.parent):
        found = LEFTOVER.fullmatch(entry.name)
        if found and found["name"] == path.name and is_abandoned(entry):
            discard(entry)


def sweep(folder: Path) -> None:
    """Delete what killed processes left in this folder and in the folders inside it."""
    for place in (folder, *(inner for inner in entries(folder) if is_plain_folder(inner))):
        for entry in entries(place):
            if LEFTOVER.fullmatch(entry.name) and is_abandoned(entry):
                discard(entry)


def entries(folder: Path) -> Iterator[Path]:
    """What lies in a folder, as it is now."""
    with suppress(OSError):
        yield from list(folder.iterdir())


def is_plain_folder(path: Path) -> bool:
    """A folder itself: no link to one, and none of our unfinished ones."""
    return path.is_dir() and not path.is_symlink() and not path.name.startswith(".")


def is_abandoned(path: Path) -> bool:
    """Whether no living process still writes under this name."""
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
