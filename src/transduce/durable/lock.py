"""A lock file that lets one process at a time work in a folder."""

import fcntl
import functools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from transduce.durable.files import (
    delete,
    delete_leftovers,
    ensure_folder,
    list_entries,
    new_folders,
    raise_save_errors,
)
from transduce.errors import InUseError

LOCK = "lock"
held_descriptors: set[int] = set()  # open lock files of this process


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Context manager: make and lock a folder, or InUseError; delete what killed processes left."""
    ensure_folder(folder)
    close_locks_in_children()
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with raise_save_errors(folder / LOCK):
        descriptor = os.open(folder / LOCK, flags, 0o666)
    held_descriptors.add(descriptor)
    try:
        acquire_lock(descriptor, folder)
        delete_leftovers(folder)
        yield
    finally:
        if descriptor in held_descriptors:  # false in a forked child, which has closed its copy
            held_descriptors.remove(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # even if a child still has a copy
            os.close(descriptor)


@contextmanager
def create_and_lock_folder(folder: Path) -> Iterator[None]:
    """Context manager that creates and locks a folder; an error deletes it if new and empty.

    Parent folders that were created for it are deleted, too.
    """
    with raise_save_errors(folder):
        is_new = not folder.exists()
    with new_folders(folder.parent), lock_folder(folder):
        try:
            yield
        except BaseException:
            if is_new and [entry.name for entry in list_entries(folder)] == [LOCK]:
                delete(folder)  # ignores its own errors, so that the first error is raised
            raise


def acquire_lock(descriptor: int, folder: Path) -> None:
    """Lock a folder's open lock file and write this process's id into it, or raise InUseError."""
    with raise_save_errors(folder / LOCK):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            named = "".join(c for c in holder if c.isprintable()) or "not named yet"
            fact = f"another process works here ({named})"
            hint = "wait for it to end, or choose another folder"
            raise InUseError(fact, hint, file=folder) from None
        if not is_same_file(descriptor, folder / LOCK):
            fact = "another process has just removed this folder"
            raise InUseError(fact, "repeat the command", file=folder)
        os.ftruncate(descriptor, 0)
        started = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        line = f"process {os.getpid()} on {socket.gethostname()}, since {started}\n"
        os.pwrite(descriptor, line.encode(), 0)


def is_same_file(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one at a path, and was not deleted or replaced."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@functools.cache
def close_locks_in_children() -> None:
    """Make every child process that is forked from now on close the lock files that it inherits."""
    os.register_at_fork(after_in_child=close_inherited_locks)


def close_inherited_locks() -> None:
    """Close the lock files that a forked child inherited; the parent keeps its locks."""
    while held_descriptors:
        os.close(held_descriptors.pop())
