"""One file, whole or absent: written beside its name, made durable, then renamed."""

import errno
import fcntl
import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, final

from transduce.durable.temporary import (
    discard,
    discard_abandoned,
    mark_alive,
    temporary_beside,
)
from transduce.durable.write_errors import saving
from transduce.errors import InputError

CHUNK = 1 << 20


def write_atomically(path: Path, data: bytes) -> None:
    """Put these bytes under this name; whoever looks finds the old file or all of the new one."""
    with atomic_file(path) as stream:
        stream.write(data)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes that come one after the other; an error leaves what was there before."""
    if path.exists() and not path.is_file():  # above all /dev/null
        raise InputError("is no regular file", "choose another name", file=path)
    ensure_folder(path.parent)
    discard_abandoned(path)
    temporary = temporary_beside(path)
    try:
        with new_file(temporary, path) as (stream, _):
            yield stream
        with saving(path):
            temporary.replace(path)
            sync_folder(path.parent)
    except BaseException:  # Ctrl-C too leaves nothing behind
        discard(temporary)
        raise


@final
class Meant(io.RawIOBase):
    """A new file, and the sha256 of the bytes meant for it: from memory, not read back."""

    def __init__(self, path: Path, known_as: Path) -> None:
        super().__init__()
        self.known_as = known_as  # what people will find it under
        self.size = 0
        self.digest = hashlib.sha256()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with saving(known_as):
            self.descriptor = os.open(path, flags, 0o666)  # the umask takes away what it must
        mark_alive(self.descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - whatever has bytes
        rest = memoryview(data).cast("B")
        self.digest.update(rest)
        self.size += rest.nbytes
        total = rest.nbytes
        with saving(self.known_as):
            while rest.nbytes:
                rest = rest[write_some(self.descriptor, rest) :]
        return total

    def close(self) -> None:
        if not self.closed:
            super().close()
            with saving(self.known_as):
                os.close(self.descriptor)


@contextmanager
def new_file(path: Path, known_as: Path) -> Iterator[tuple[BinaryIO, Meant]]:
    """A buffered stream into a new file that is on the disk when the block ends well."""
    meant = Meant(path, known_as)
    try:
        stream = io.BufferedWriter(meant, CHUNK)
        yield stream, meant
        stream.flush()
        with saving(known_as):
            sync(meant.descriptor)  # never twice: after a failure the second one lies
    finally:
        meant.close()  # not the stream, which would try again to write what failed


def write_some(descriptor: int, data: memoryview) -> int:
    """Write what the system takes at once, which may be less than all."""
    written = os.write(descriptor, data)
    if written == 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return written


def sync(descriptor: int) -> None:
    """Wait until the disk has it; fsync of macOS waits only until the disk has heard of it."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(descriptor, full)
        except OSError as fault:
            if fault.errno not in (errno.ENOTSUP, errno.EINVAL):
                raise
        else:
            return
    os.fsync(descriptor)


def ensure_folder(folder: Path) -> None:
    """Make a folder and those above it, each one durable in the one that holds it."""
    if folder.is_dir():
        return
    ensure_folder(folder.parent)
    with saving(folder):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make durable which names a folder holds."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    except OSError as fault:
        if fault.errno != errno.EINVAL:  # some file systems know no such thing for folders
            raise
    finally:
        os.close(descriptor)
