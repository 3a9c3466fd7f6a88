"""Atomic writing of files: a file gets its own name only when it is synced to disk.

Until then its name is temporary. Temporary files that killed processes left are deleted later. The
system's write errors become SaveErrors with a hint.
"""

import errno
import fcntl
import hashlib
import io
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, final

from transduce.errors import InputError, SaveError, short_repr

LEFTOVER = re.compile(r"\.(tmp|trash)-[0-9a-f]{16}-(?P<name>.+)", re.DOTALL)
LONGEST_NAME = 255 - len(".trash-0123456789abcdef-")  # the most bytes of a name after this prefix


def temporary_path(path: Path) -> Path:
    """Return a new random temporary path in the same folder, to be renamed to `path` later."""
    return path.with_name(f".tmp-{secrets.token_hex(8)}-{cut_name(path)}")


def trash_path(path: Path) -> Path:
    """Return a new random path in the same folder, for renaming `path` before its deletion."""
    return path.with_name(f".trash-{secrets.token_hex(8)}-{cut_name(path)}")


def cut_name(path: Path) -> str:
    """Return a path's file name, shortened if its temporary name would be too long."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME].decode("utf-8", "ignore")


def mark_alive(descriptor: int) -> None:
    """Take a shared lock on an open file or folder, to show that a living process writes it."""
    with suppress(OSError):  # a file system without flock: there no file counts as abandoned
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def open_marked(path: Path, flags: int) -> int:
    """Open a file, mark it alive, return its descriptor; make a new one again if it was deleted."""
    while True:
        descriptor = os.open(path, flags, 0o666)
        mark_alive(descriptor)
        if not flags & os.O_EXCL or os.path.lexists(path):
            return descriptor
        os.close(descriptor)


def delete(path: Path) -> None:
    """Delete a file or folder and ignore errors; `delete_leftovers` deletes the rest later."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            with suppress(OSError):  # rmtree leaves an empty folder that this user may not read
                path.rmdir()
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def delete_abandoned(path: Path) -> None:
    """Delete the temporary files of killed processes that were writing to this path."""
    for entry in list_entries(path.parent):
        found = LEFTOVER.fullmatch(entry.name)
        if found and found["name"] == cut_name(path) and is_abandoned(entry):
            delete(entry)


def delete_leftovers(folder: Path) -> None:
    """Delete the temporary files of killed processes in a folder and its direct subfolders."""
    inner = (
        one
        for one in list_entries(folder)
        if one.is_dir() and not one.is_symlink() and not one.name.startswith(".")
    )
    for each in (folder, *inner):
        for entry in list_entries(each):
            if LEFTOVER.fullmatch(entry.name) and is_abandoned(entry):
                delete(entry)


def list_entries(folder: Path) -> Iterator[Path]:
    """Yield the paths of a folder's entries; none if the folder cannot be read."""
    with suppress(OSError):
        yield from list(folder.iterdir())


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
    """Context manager: yield a new temporary folder that only this user can open, then delete it.

    Folders with this prefix that were left by killed processes of this user are deleted, too.
    """
    for entry in list_entries(Path(tempfile.gettempdir())):
        with suppress(OSError):  # another process deletes it, too
            is_ours = entry.name.startswith(prefix) and entry.lstat().st_uid == os.getuid()
            if is_ours and entry.is_dir() and is_abandoned(entry):
                delete(entry)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        try:
            folder.chmod(0o700)  # the umask may have taken this user's own rights
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:  # another process took it for abandoned
            continue
        mark_alive(descriptor)
        if folder.exists():  # no other process took it for abandoned before it was marked
            break
        os.close(descriptor)
    try:
        yield folder
    finally:
        os.close(descriptor)
        delete(folder)


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
    errno.EISDIR: "a folder has the name of this file: move it elsewhere",
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


CHUNK = 1 << 20
PACKED = (".gz", ".xz", ".zst")
NO_FILE, NO_FILE_HINT = "is no regular file", "choose another name"


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content by `data`, all or nothing for readers; SaveError on failure."""
    with atomic_file(path) as stream:
        stream.write(data)


def require_file_name(path: object) -> None:
    """Raise InputError if an output file is no path, or its name ends in / or .gz, .xz or .zst."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"a file to write must be a path, not {short_repr(path)}")
    if os.fspath(path).endswith(os.sep):
        fact = "ends in a slash, as a folder does, and a file is to be written"
        raise InputError(fact, f"-o {os.fspath(path)}NAME", file=os.fspath(path))
    if os.fspath(path).endswith(PACKED):
        fact = "ends as a packed file does, and would not be packed"
        raise InputError(fact, "choose another name, and pack it afterwards", file=os.fspath(path))


def is_pipe_or_device(path: Path) -> bool:
    """Return whether a path is a character device or a pipe."""
    return path.is_char_device() or path.is_fifo()


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Context manager: yield a stream whose bytes replace `path` at exit; SaveError if they cannot.

    If the block raises, nothing changes. The new file has the permissions of the old one. A device
    such as /dev/null, or a pipe with a reader, cannot be replaced and is written directly.
    InputError if `path` is anything else that is no file, such as a folder.
    """
    with raise_save_errors(path):
        writes_directly, is_no_file = is_pipe_or_device(path), path.exists() and not path.is_file()
    if writes_directly:
        file = HashingFile(path, path, is_new=False)
        try:
            buffer = io.BufferedWriter(file, CHUNK)
            yield buffer
            buffer.flush()
        finally:
            file.close()
        return
    if is_no_file:
        raise InputError(NO_FILE, NO_FILE_HINT, file=path)
    with new_folders(path.parent):
        delete_abandoned(path)
        temporary = temporary_path(path)
        try:
            with create_file(temporary, path) as (stream, file):
                with suppress(OSError):  # there is no old file, or this disk keeps no permissions
                    os.fchmod(file.descriptor, path.stat().st_mode & 0o777)
                yield stream
            with raise_save_errors(path):
                temporary.replace(path)
                sync_folder(path.parent)
        except BaseException:  # delete the temporary file after Ctrl-C, too
            delete(temporary)
            raise


@final
class HashingFile(io.RawIOBase):
    """A new file, or a device, that counts and hashes (sha256) the bytes written to it."""

    def __init__(self, path: Path, final_path: Path, *, is_new: bool = True) -> None:
        super().__init__()
        self.final_path = final_path  # the path after renaming, for error messages
        self.size = 0
        self.digest = hashlib.sha256()
        new = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        flags = os.O_WRONLY | os.O_CLOEXEC | (new if is_new else os.O_NONBLOCK)
        with raise_save_errors(final_path):
            try:  # the umask restricts these permissions
                self.descriptor = open_marked(path, flags)
            except OSError as error:
                if error.errno == errno.ENXIO:  # a pipe without a reader: opening it would wait
                    raise InputError(NO_FILE, NO_FILE_HINT, file=path) from None
                raise
        os.set_blocking(self.descriptor, True)

    def writable(self) -> bool:
        """Return True: this stream can be written to."""
        return True

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - any bytes-like object
        """Write all bytes, updating `size` and `digest`; raise SaveError on failure."""
        rest = memoryview(data).cast("B")
        self.digest.update(rest)
        self.size += rest.nbytes
        total = rest.nbytes
        with raise_save_errors(self.final_path):
            while rest.nbytes:
                rest = rest[write_some(self.descriptor, rest) :]
        return total

    def close(self) -> None:
        """Close the file; raise SaveError if the system reports an error."""
        if not self.closed:
            super().close()
            with raise_save_errors(self.final_path):
                os.close(self.descriptor)


@contextmanager
def create_file(path: Path, final_path: Path) -> Iterator[tuple[BinaryIO, HashingFile]]:
    """Context manager: create `path`, yield its stream and its `HashingFile`, and sync at the end.

    Error messages name `final_path`, the file's path after renaming.
    """
    file = HashingFile(path, final_path)
    try:
        stream = io.BufferedWriter(file, CHUNK)
        yield stream, file
        stream.flush()
        with raise_save_errors(final_path):
            sync(file.descriptor)  # only once: after a failed fsync, another fsync reports success
    finally:
        file.close()  # closing the stream instead would write the failed bytes again


def write_some(descriptor: int, data: memoryview) -> int:
    """Write as many bytes of `data` as one system call accepts, and return how many."""
    written = os.write(descriptor, data)
    if written == 0:
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return written


def sync(descriptor: int) -> None:
    """Wait until the disk has stored a file's content (fsync; F_FULLFSYNC on macOS)."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        try:
            fcntl.fcntl(descriptor, full)
        except OSError as error:
            if error.errno not in (errno.ENOTSUP, errno.EINVAL):
                raise
        else:
            return
    os.fsync(descriptor)


def require_folder(folder: Path, hint: str) -> None:
    """Raise InputError unless there is a folder with this path."""
    if not folder.is_dir():
        fact = "is a file, not a folder" if folder.exists() else "no such folder"
        if not folder.exists() and folder.is_symlink():
            fact = "is a link that leads to no folder"
        raise InputError(fact, hint, file=folder)


def require_disk_space(disk: Path, size: int, file: Path, hint: str) -> None:
    """Raise SaveError if the disk under the folder `disk` has fewer than `size` bytes free.

    The error names `file`. Quotas are not considered, and a disk of unknown size is taken as large
    enough.
    """
    with raise_save_errors(disk):
        found = os.statvfs(disk)
    free = found.f_bavail * found.f_frsize
    if found.f_blocks and free < size:
        fact = f"needs {size / 1e6:,.1f} MB, and {free / 1e6:,.1f} MB are free on this disk"
        raise SaveError(fact, hint, file=file)


def ensure_folder(folder: Path) -> None:
    """Create a folder and its missing parents, each synced to disk; SaveError on failure."""
    with raise_save_errors(folder):
        if folder.is_dir():
            return
    ensure_folder(folder.parent)
    with raise_save_errors(folder):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


@contextmanager
def new_folders(folder: Path) -> Iterator[None]:
    """Context manager that creates a folder with its parents; an error deletes the new, empty ones.

    An error while deleting is ignored, so that the first error is raised.
    """
    with raise_save_errors(folder):
        new = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        ensure_folder(folder)
        yield
    except BaseException:
        for one in new:
            with suppress(OSError):  # it may hold something else by now, or be `new/..`
                one.rmdir()
        raise


def sync_folder(folder: Path) -> None:
    """Wait until the disk has stored a folder's list of names, so that renames survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync folders
            raise
    finally:
        os.close(descriptor)
