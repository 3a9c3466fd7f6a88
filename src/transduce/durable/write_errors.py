"""Translate the system's write errors into SaveError, with a hint of what the user can do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transduce.errors import SaveError

NEXT_MOVE = {
    errno.ENOSPC: "free some space on this disk, then start the same command again",
    errno.EDQUOT: "your quota on this disk is used up: delete something, then start again",
    errno.EROFS: "this file system is read-only: choose another place",
    errno.EIO: "the disk reports a fault: choose another disk, and look at this one",
    errno.EFBIG: "no file may be so large here: look at `ulimit -f`, or choose another disk",
    errno.EACCES: "you may not write here: choose another place, or change its permissions",
    errno.EPERM: "you may not write here: choose another place, or change its permissions",
    errno.ENOTDIR: "a part of this path is a file, not a folder: choose another name",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "too many files are open: look at `ulimit -n`",
}


@contextmanager
def raise_save_errors(file: Path) -> Iterator[None]:
    """Context manager that turns an OSError into a SaveError with the file's path and a hint."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        reason = os.strerror(number).lower()
        if number == errno.ELOOP:
            reason = "it is a link, or its path leads back to itself"
        fact = f"cannot be written: {reason}"
        raise SaveError(fact, NEXT_MOVE.get(number, "choose another place"), file=file) from error
