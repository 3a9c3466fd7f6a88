"""A partially downloaded file, and a JSON file beside it (its note) with address and version.

NAME.part         the first bytes of the file
NAME.part.json    the note: the address, and the server's ETag or Last-Modified as the version
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from transduce.datasets.values import Download
from transduce.durable.files import raise_save_errors, sync, write_atomically, write_some
from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import FolderError

NOTE_LIMIT = 1 << 16  # the most bytes of a note


@final
class PartialDownload:
    """An unfinished download: a file with its first bytes, and a note of address and version."""

    def __init__(self, what: Download, whole: Path) -> None:
        self.what = what
        self.path = whole.with_name(whole.name + ".part")
        self.note = whole.with_name(whole.name + ".part.json")

    @property
    def size(self) -> int:
        """The number of bytes downloaded so far."""
        return self.path.stat().st_size if self.path.exists() else 0

    def find_resume_point(self, address: str) -> tuple[int, str]:
        """Return the byte offset to resume the download at, and the version of the bytes so far.

        The version is the server's ETag or Last-Modified, or "" for another address. Bytes of two
        versions are combined only if the checksum of the whole file is known.
        """
        origin, version = self.read_note()
        version = version if origin == address else ""
        return (self.size if version or self.what.has_checksum else 0), version

    def read_note(self) -> tuple[str, str]:
        """Return the address and version in the note, or two empty strings if there is no note."""
        try:
            note = from_checksummed_json(read_regular(self.note, NOTE_LIMIT), self.note)
            return str(note["address"]), str(note["version"])
        except (FolderError, KeyError):
            return "", ""

    @contextmanager
    def append(self, start: int, address: str, version: str) -> Iterator[Callable[[bytes], None]]:
        """Context manager: cut the file to `start` bytes, and yield a function to append bytes.

        The note is written first, with `address` and `version`.
        """
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
                os.ftruncate(descriptor, start)
                os.lseek(descriptor, start, os.SEEK_SET)
            yield add
        finally:
            with raise_save_errors(self.path):
                try:
                    sync(descriptor)
                finally:
                    os.close(descriptor)

    def delete(self) -> None:
        """Delete the partial file and the JSON note beside it."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)
