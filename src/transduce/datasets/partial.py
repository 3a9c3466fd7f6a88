"""A file that is not whole yet, and a note of what its bytes are the first of.

NAME.part         the first bytes
NAME.part.json    the address that they are from, and what the server calls this version
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from transduce.datasets.values import Download
from transduce.durable import (
    from_checksummed_json,
    read_regular,
    to_checksummed_json,
    write_atomically,
)
from transduce.durable.files import sync, write_some
from transduce.durable.write_errors import raise_save_errors
from transduce.errors import FolderError

NOTE_LIMIT = 1 << 16


@final
class Partial:
    """The first bytes of a download."""

    def __init__(self, what: Download, whole: Path) -> None:
        self.what = what
        self.path = whole.with_name(whole.name + ".part")
        self.note = whole.with_name(whole.name + ".part.json")

    @property
    def size(self) -> int:
        """How many bytes are here."""
        return self.path.stat().st_size if self.path.exists() else 0

    def usable(self, address: str) -> tuple[int, str]:
        """How many bytes may be added to, and the version that they are of, if it has a name.

        Bytes of two versions are not put together, unless the whole will be held against a hash.
        """
        origin, version = self.origin()
        version = version if origin == address else ""
        return (self.size if version or self.what.is_known else 0), version

    def origin(self) -> tuple[str, str]:
        """The address that the bytes are from, and the version."""
        try:
            said = from_checksummed_json(read_regular(self.note, NOTE_LIMIT), self.note)
            return str(said["address"]), str(said["version"])
        except (FolderError, KeyError):
            return "", ""

    @contextmanager
    def adding(self, begun: int, address: str, version: str) -> Iterator[Callable[[bytes], None]]:
        """Add bytes behind the first so many; however the block ends, the disk has them."""
        write_atomically(self.note, to_checksummed_json({"address": address, "version": version}))
        with raise_save_errors(self.path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o666)

        def add(chunk: bytes) -> None:
            rest = memoryview(chunk)
            with raise_save_errors(self.path):
                while rest:
                    rest = rest[write_some(descriptor, rest) :]

        try:
            with raise_save_errors(self.path):
                os.ftruncate(descriptor, begun)
                os.lseek(descriptor, begun, os.SEEK_SET)
            yield add
        finally:
            with raise_save_errors(self.path):
                try:
                    sync(descriptor)
                finally:
                    os.close(descriptor)

    def forget(self) -> None:
        """Delete what is here."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
