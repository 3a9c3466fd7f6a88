"""One folder, whole or absent: its files, then its manifest, then its name."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, final

from transduce.durable.checksummed_json import to_checksummed_json
from transduce.durable.files import ensure_folder, new_file, sync_folder
from transduce.durable.temporary import (
    discard,
    discard_abandoned,
    mark_alive,
    temporary_beside,
    trash_beside,
)
from transduce.durable.write_errors import saving
from transduce.errors import InputError

MANIFEST = "manifest.json"
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@contextmanager
def atomic_folder(
    path: Path, *, kind: str, about: Mapping[str, object]
) -> Iterator["FolderWriter"]:
    """Write a folder that appears under its name only when every byte of it is on the disk."""
    require_absent(path)
    ensure_folder(path.parent)
    discard_abandoned(path)
    temporary = temporary_beside(path)
    with saving(path):
        temporary.mkdir()
    try:
        with marked(temporary, path):
            writer = FolderWriter(temporary, path)
            yield writer
            writer.write_manifest(kind, about)
            with saving(path):
                sync_folder(temporary)
            require_absent(path)
            put_in_place(temporary, path)
    except BaseException:  # Ctrl-C too leaves nothing behind
        discard(temporary)
        raise


@final
class FolderWriter:
    """Takes the files of one folder and remembers what they are meant to hold."""

    def __init__(self, folder: Path, known_as: Path) -> None:
        self.folder = folder
        self.known_as = known_as
        self.files: dict[str, dict[str, int | str]] = {}

    def write(self, name: str, data: bytes) -> None:
        """Add a file of these bytes."""
        with self.open(name) as stream:
            stream.write(data)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Add a file whose bytes come one after the other; several may be open at once."""
        assert PLAIN_NAME.fullmatch(name), f"{name!r} is no plain file name"
        with new_file(self.folder / name, self.known_as / name) as (stream, meant):
            yield stream
        self.files[name] = {"size": meant.size, "sha256": meant.digest.hexdigest()}

    def write_manifest(self, kind: str, about: Mapping[str, object]) -> None:
        """Last of all, the list of what lies here."""
        assert not {"kind", "files"} & set(about), "these words are the manifest's own"
        assert MANIFEST not in self.files, "the manifest is written here"
        with new_file(self.folder / MANIFEST, self.known_as / MANIFEST) as (stream, _):
            stream.write(to_checksummed_json({"kind": kind, **about, "files": self.files}))


def require_absent(path: Path) -> None:
    """Nothing that exists is ever written over."""
    if os.path.lexists(path):
        raise InputError("exists already", "choose another name, or delete it first", file=path)


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished folder its name, for good."""
    with saving(path):
        temporary.rename(path)
        try:
            sync_folder(path.parent)
        except OSError:
            path.rename(temporary)  # a name that may not last must not be taken for a saved one
            raise


@contextmanager
def marked(folder: Path, known_as: Path) -> Iterator[None]:
    """Keep the broom away from a folder while it is written."""
    with saving(known_as):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        mark_alive(descriptor)
        yield
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Delete a folder so that a crash never leaves its name with half of its files."""
    trash = trash_beside(path)
    with saving(path):
        path.rename(trash)
        sync_folder(path.parent)  # before the first file goes
    discard(trash)
