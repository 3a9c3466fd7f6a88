"""One process at a time works in a folder."""

import fcntl
import functools
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from transduce.durable.files import ensure_folder
from transduce.durable.temporary import sweep
from transduce.durable.write_errors import saving
from transduce.errors import InUseError

LOCK = "lock"
held: set[int] = set()


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold a folder, and clean what a killed process left; the lock goes with this process."""
    ensure_folder(folder)
    forget_in_children()
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with saving(folder / LOCK):
        descriptor = os.open(folder / LOCK, flags, 0o666)
    held.add(descriptor)
    try:
        take(descriptor, folder)
        sweep(folder)
        yield
    finally:
        if descriptor in held:  # not in a forked child, which has closed its copy
            held.remove(descriptor)
            os.close(descriptor)


def take(descriptor: int, folder: Path) -> None:
    """Take the lock, or say who has it. What the file says is for people only."""
    with saving(folder / LOCK):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            named = "".join(c for c in holder if c.isprintable()) or "not named yet"
            fact = f"another process works here ({named})"
            hint = "wait for it to end, or choose another folder"
            raise InUseError(fact, hint, file=folder) from None
        os.ftruncate(descriptor, 0)
        started = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        line = f"process {os.getpid()} on {socket.gethostname()}, since {started}\n"
        os.pwrite(descriptor, line.encode(), 0)


@functools.cache
def forget_in_children() -> None:
    """A forked child closes its copy, or it would keep the lock alive after its parent."""
    os.register_at_fork(after_in_child=close_copies)


def close_copies() -> None:
    """Close without unlocking: the lock belongs to the parent."""
    while held:
        os.close(held.pop())
