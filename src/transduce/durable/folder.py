"""Atomic writing of a folder: it is renamed to its own name when all files are on disk."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, final

from transduce.durable.checksummed_json import to_checksummed_json
from transduce.durable.files import create_file, ensure_folder, sync_folder
from transduce.durable.temporary import (
    delete,
    delete_abandoned,
    mark_alive,
    temporary_path,
    trash_path,
)
from transduce.durable.write_errors import raise_save_errors
from transduce.errors import InputError

MANIFEST = "manifest.json"
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@contextmanager
def atomic_folder(
    path: Path,
    *,
    kind: str,
    about: Mapping[str, object],
    require_free: Callable[[Path], None] | None = None,
) -> Iterator["FolderWriter"]:
    """Context manager: yield a writer for a new folder; at the end, sync and rename it to `path`.

    `kind` and `about` are entries of its manifest. `require_free` raises an error if the folder at
    `path` may not be replaced; by default anything there is refused.
    """
    require_free = require_free or require_absent
    require_free(path)
    ensure_folder(path.parent)
    delete_abandoned(path)
    temporary = temporary_path(path)
    with raise_save_errors(path):
        temporary.mkdir()
    try:
        with protect_folder(temporary, path):
            writer = FolderWriter(temporary, path)
            yield writer
            writer.write_manifest(kind, about)
            with raise_save_errors(path):
                sync_folder(temporary)
            require_free(path)
            publish_folder(temporary, path)
    except BaseException:  # delete the temporary folder after Ctrl-C, too
        delete(temporary)
        raise


@final
class FolderWriter:
    """A writer of one new folder's files, which records sizes and sha256 for the manifest."""

    def __init__(self, folder: Path, final_path: Path) -> None:
        self.folder = folder
        self.final_path = final_path
        self.files: dict[str, dict[str, int | str]] = {}

    def write(self, name: str, data: bytes) -> None:
        """Add a file with these bytes to the folder."""
        with self.open(name) as stream:
            stream.write(data)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Context manager: yield a stream that adds file `name`; several may be open at once."""
        assert PLAIN_NAME.fullmatch(name), f"{name!r} is no plain file name"
        with create_file(self.folder / name, self.final_path / name) as (stream, file):
            yield stream
        self.files[name] = {"size": file.size, "sha256": file.digest.hexdigest()}

    def write_manifest(self, kind: str, about: Mapping[str, object]) -> None:
        """Write manifest.json: the kind, the given values, size and sha256 of each file."""
        assert not {"kind", "files"} & set(about), "these keys are reserved"
        assert MANIFEST not in self.files, "the manifest is written here"
        with create_file(self.folder / MANIFEST, self.final_path / MANIFEST) as (stream, _):
            stream.write(to_checksummed_json({"kind": kind, **about, "files": self.files}))


def require_absent(path: Path, hint: str = "choose another name, or delete it first") -> None:
    """Raise InputError if anything exists at this path, so that nothing is ever overwritten."""
    if os.path.lexists(path):
        raise InputError("exists already", hint, file=path)


def publish_folder(temporary: Path, path: Path) -> None:
    """Rename a finished temporary folder to its final name and sync the rename to disk.

    An old folder of this name is moved away first, and deleted at the end.
    """
    old = trash_path(path) if os.path.lexists(path) else None
    with raise_save_errors(path):
        if old is not None:
            path.rename(old)
        try:
            temporary.rename(path)
            try:
                sync_folder(path.parent)
            except OSError:
                path.rename(temporary)  # not synced: a crash could undo the rename
                raise
        except OSError:
            if old is not None:
                old.rename(path)
            raise
    if old is not None:
        delete(old)


@contextmanager
def protect_folder(folder: Path, final_path: Path) -> Iterator[None]:
    """Context manager: lock an unfinished folder, so that no process deletes it as abandoned.

    Error messages name `final_path`, the folder's path after renaming.
    """
    with raise_save_errors(final_path):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        mark_alive(descriptor)
        yield
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Rename a folder, then delete it, so that a crash never leaves half of it under its name."""
    trash = trash_path(path)
    with raise_save_errors(path):
        path.rename(trash)
        sync_folder(path.parent)  # the rename is on disk before the first file is deleted
    delete(trash)
