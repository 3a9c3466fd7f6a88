"""What the system says when it does not take our bytes, in one sentence and a next move."""

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
def saving(file: Path) -> Iterator[None]:
    """Say which file the system would not take, and why."""
    try:
        yield
    except OSError as fault:
        number = fault.errno or errno.EIO
        fact = f"cannot be written: {os.strerror(number).lower()}"
        raise SaveError(fact, NEXT_MOVE.get(number, "choose another place"), file=file) from fault
