"""Folders with a manifest, which are written atomically and verified by sha256 when they are read.

A folder gets its own name only when all its files are on disk.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BufferedIOBase, BufferedReader
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, final

from transduce.durable.files import (
    create_file,
    delete,
    delete_abandoned,
    is_pipe_or_device,
    mark_alive,
    new_folders,
    raise_save_errors,
    require_file_name,
    sync_folder,
    temporary_path,
    trash_path,
)
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.errors import (
    FolderError,
    InputError,
    SaveError,
    TransduceError,
    another,
    find_exhaustion,
)

MANIFEST = "manifest.json"
OWN_FILES = re.compile(  # names of files of a run or a prepared folder
    r"(run|prepared|data|tags|epochs|(source\.|target\.)?vocabulary)\.json|log\.jsonl|lock"
)
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


@contextmanager
def atomic_folder(
    path: Path,
    *,
    kind: str,
    about: Mapping[str, object],
    require_free: Callable[[Path], None] | None = None,
) -> Iterator["FolderWriter"]:
    """Context manager: yield a writer of files for a new folder `path`; InputError if it is taken.

    The folder has its name `path` only at exit, with all its files. `kind` and `about` are entries
    of its manifest, which is written then; the block may still add to `about`. `require_free`
    raises an error if the folder at `path` may not be replaced; by default anything there is
    refused. The new folder has the permissions of the one that it replaces.
    """
    require_free = require_free or require_absent
    require_free(path)
    require_harmless_output(path)
    # a path through the old folder, such as m/../m, breaks when that folder is moved away
    real = Path(os.path.realpath(path.parent), path.name) if ".." in path.parts else path
    with new_folders(path.parent):
        delete_abandoned(real)
        temporary = temporary_path(real)
        try:
            with raise_save_errors(path):
                temporary.mkdir()
                if real.is_dir():  # who could not read the old folder cannot read the new one
                    temporary.chmod(stat.S_IMODE(real.stat().st_mode) | stat.S_IRWXU)
            with protect_folder(temporary, path):
                writer = FolderWriter(temporary, path)
                yield writer
                assert not {"kind", "files"} & set(about), "these keys are reserved"
                assert MANIFEST not in writer.files, "the manifest is written here"
                manifest = to_checksummed_json({"kind": kind, **about, "files": writer.files})
                writer.write(MANIFEST, manifest)
                with raise_save_errors(path):
                    sync_folder(temporary)
                require_free(path)
                publish_folder(temporary, real)
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


def require_absent(path: Path, hint: str = "choose another name, or delete it first") -> None:
    """Raise InputError if anything exists at this path, so that nothing is ever overwritten."""
    if os.path.lexists(path):
        raise InputError("exists already", hint, file=path)


def publish_folder(temporary: Path, path: Path) -> None:
    """Rename a finished temporary folder to its final name, in place of an old one, and sync it.

    An old folder of this name is moved away first, and deleted at the end.
    """
    old = trash_path(path) if os.path.lexists(path) else None
    with raise_save_errors(path):
        try:
            if old is not None:
                path.rename(old)
            temporary.rename(path)
            try:
                sync_folder(path.parent)
            except OSError:
                path.rename(temporary)  # not synced: a crash could undo the rename
                raise
        except OSError as error:
            if old is not None and os.path.lexists(old) and not os.path.lexists(path):
                old.rename(path)
            if error.errno in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
                fact = "cannot be written: another process moved or wrote it at the same time"
                raise SaveError(fact, "look at what is there now", file=path) from error
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
    """Rename a folder, then delete it, so that no crash leaves half of it; SaveError on failure.

    Errors after the renaming are ignored.
    """
    trash = trash_path(path)
    with raise_save_errors(path):
        path.rename(trash)
        sync_folder(path.parent)  # the rename is on disk before the first file is deleted
    delete(trash)


MANIFEST_LIMIT = 1 << 20
BYTES_AT_ONCE = 1 << 20
SPARSE_LIMIT = 1 << 32
MOST_EXTENTS = 10_000  # stored parts of a sparse file that are examined
REREAD_LIMIT = 1 << 30  # a larger file with a fault is refused without hashing the rest of it
SHA256 = re.compile(r"[0-9a-f]{64}")
PERMISSION = "it may be sound, but you may not read it: look at its permissions and its owner"
AGAIN = "the folder is damaged or was edited: delete it and make it anew, or fetch it again"


@final
@dataclass(frozen=True)
class ManifestEntry:
    """The size in bytes and the sha256 that a manifest lists for one file."""

    size: int
    sha256: str


@final
@dataclass(frozen=True)
class VerifiedFolder:
    """A folder whose valid manifest lists its files; hidden ones and `unlisted` are exceptions."""

    folder: Path
    kind: str
    about: Mapping[str, Any]
    files: Mapping[str, ManifestEntry]
    hash: str  # sha256 of the manifest, which contains the sha256 of every file

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Return a file's bytes, checked against the manifest; refuse more than `limit` bytes."""
        size = self.entry(name).size
        if limit is not None and size > limit:
            fact = f"has {size:,} bytes, over {limit:,}"
            raise FolderError(fact, AGAIN, file=self.folder / name)
        with self.open(name) as reader:
            return reader.read(size)

    @contextmanager
    def open(self, name: str) -> Iterator["HashingReader"]:
        """Context manager: yield a file's reader; FolderError at exit if bytes are not as listed.

        If the block raises FolderError, a file of at most 1 GiB is still checked; if its bytes
        are not as listed, the error says that instead.
        """
        path, entry = self.folder / name, self.entry(name)
        with open_regular(path) as stream:
            require_size(path, entry, stream)
            reader = HashingReader(stream, entry.size)
            try:
                yield reader
            except FolderError:
                if entry.size <= REREAD_LIMIT:
                    require_sha256(path, entry, reader.hash_rest())
                raise
            require_sha256(path, entry, reader.hash_rest())

    def verified_path(self, name: str) -> Path:
        """Return the path of a file after checking its size and sha256 against the manifest."""
        with self.open(name):  # closing the reader reads and checks the whole file
            return self.folder / name

    def verify(self) -> None:
        """Check size and sha256 of every file; raise FolderError for the first that differs."""
        for name in self.files:
            self.verified_path(name)

    def entry(self, name: str) -> ManifestEntry:
        """Return the manifest's entry of a file; raise FolderError if the file is not listed."""
        if name not in self.files:
            raise FolderError(f"has no {name}", AGAIN, file=self.folder)
        return self.files[name]


@final
class HashingReader:
    """An open file of a known size, which is read from start to end and hashed on the way."""

    def __init__(self, stream: BufferedIOBase, size: int) -> None:
        self.stream, self.size = stream, size
        self.digest = hashlib.sha256()

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes, or fewer at the end of the file."""
        data = self.stream.read(count)
        self.digest.update(data)
        return data

    def fill(self, buffer: memoryview) -> bool:
        """Fill a buffer with the next bytes; return whether the file had enough of them."""
        count = self.stream.readinto(buffer)
        self.digest.update(buffer[:count])
        return count == len(buffer)

    def hash_rest(self) -> str:
        """Read to the end in blocks; return the sha256 of the whole file."""
        while self.read(BYTES_AT_ONCE):
            pass
        return self.digest.hexdigest()


def has_manifest(path: Path) -> bool:
    """Return whether a folder has a valid manifest of this package, of any kind."""
    manifest = path / MANIFEST
    try:
        from_checksummed_json(read_regular(manifest, MANIFEST_LIMIT), manifest)
    except TransduceError:
        return False
    return True


def resolve_output(path: str | PathLike[str]) -> Path:
    """Return an output path, or the target if it is a link; InputError for a wrong name or place.

    Refused are a name that ends in /, .gz, .xz or .zst, a circular link, and a place where
    a file would damage a run, model or store. /dev/stdout stays as it is if standard output is a
    pipe, which has no path.
    """
    require_file_name(path)
    path = Path(path)
    if path.is_symlink() and not is_pipe_or_device(path):
        path, named = Path(os.path.realpath(path)), path
        if path.is_symlink():
            fact = "is a link that leads back to itself"
            raise InputError(fact, "choose another name", file=named)
    require_harmless_output(path)
    return path


def require_harmless_output(output: Path) -> None:
    """Raise InputError if `output` is a file of a run or a corpus, or lies in a model or store.

    Every folder with a valid manifest counts as a model or store, for example a checkpoint.
    """
    place = Path(os.path.realpath(output.parent))
    for sign, what in (("run.json", "run"), ("prepared.json", "prepared corpus")):
        if OWN_FILES.fullmatch(output.name) and os.path.lexists(place / sign):
            raise InputError(f"is a file of the {what} itself", "choose another name", file=output)
    for folder in (place, *place.parents):
        if os.path.lexists(folder / MANIFEST) and has_manifest(folder):
            fact = "is a model, store or checkpoint, and another file would damage it"
            named = output.parent if folder == place else folder
            raise InputError(fact, "choose another folder", file=named)


def require_own_folder(
    folder: Path, sign: str, ours: Collection[str], kind: str, mark: str | None = None
) -> None:
    """Raise InputError if a folder is in use for something else, or lies in a model or a `kind`.

    A folder without `sign` may hold only hidden files and `ours`, which are written before `sign`.
    `kind` is what the folder is to be, such as "run". No folder above it may be a model or a store,
    or have the file `mark`, which would make it another folder of this kind.
    """
    require_harmless_output(folder)
    for above in Path(os.path.realpath(folder)).parents:
        if mark is not None and (above / mark).is_file():
            raise InputError(
                f"lies in another {kind}", f"choose a place outside {above}", file=folder
            )
    if not os.path.lexists(folder) or os.path.lexists(folder / sign):
        return
    if not folder.is_dir() or any(
        entry.name not in ours and not entry.name.startswith(".") for entry in folder.iterdir()
    ):
        raise InputError(f"exists and is no {kind}", "choose another name", file=folder)


def open_folder(path: Path, kind: str, unlisted: Collection[str] = ()) -> VerifiedFolder:
    """Open a folder of this kind; FolderError unless its manifest is valid and lists its files.

    The files are verified when they are read. `unlisted` names files that may be in the folder but
    not in the manifest; they have their own checksums.
    """
    manifest = path / MANIFEST
    if not os.path.lexists(manifest):
        fact = "is no folder" if os.path.lexists(path) else "does not exist"
        if path.is_dir():
            fact = f"is no {kind} folder: it has no {MANIFEST}"
        raise FolderError(fact, "look at the path", file=path)
    data = read_regular(manifest, MANIFEST_LIMIT)
    values = from_checksummed_json(data, manifest)
    found = values.pop("kind", None)
    if found != kind:
        fact = f"is no {kind} folder, but one of kind {str(found)[:40]!r}"
        raise FolderError(fact, "look at the path", file=path)
    files = read_entries(values.pop("files", None), manifest)
    require_same_names(path, set(files), {MANIFEST, *unlisted})
    return VerifiedFolder(path, kind, values, files, hashlib.sha256(data).hexdigest())


def open_or_write_folder(
    path: Path,
    kind: str,
    about: Mapping[str, object],
    write: Callable[[FolderWriter], None],
    *,
    renews: bool = False,
) -> VerifiedFolder:
    """Open a folder, first calling `write` if it is absent; InputError if it has another `about`.

    `write` gets the writer of the new folder. With `renews` a folder with another `about` is
    written anew.
    """
    found = open_folder(path, kind) if path.exists() else None
    others = (
        [] if found is None else [name for name in about if found.about.get(name) != about[name]]
    )
    if others and not renews:
        fact = f"was made with {another(others[0])}"
        raise InputError(fact, "choose another folder, or delete this one", file=path)
    if found is None or others:
        require_free = partial(require_replaceable, kind=kind) if others else None
        with atomic_folder(path, kind=kind, about=about, require_free=require_free) as writer:
            write(writer)
        found = open_folder(path, kind)
    return found


def require_replaceable(path: Path, kind: str, unlisted: Collection[str] = ()) -> None:
    """Raise InputError unless a path is free, or a valid folder of this kind without other files.

    Replacing the folder then destroys nothing that another program or a person put there.
    """
    if not os.path.lexists(path):
        return
    hint = "choose another name, or delete it first"
    if path.is_symlink():
        raise InputError("is a link, and is not replaced", hint, file=path)
    try:
        open_folder(path, kind, unlisted)
    except FolderError as fault:
        raise InputError(f"{fault.fact}, and is not replaced", hint) from fault
    for name in sorted(list_names(path)):
        if name.startswith("."):
            raise InputError(f"is not replaced: it holds {name[:40]!r}", hint, file=path)


def read_entries(values: object, manifest: Path) -> dict[str, ManifestEntry]:
    """Parse the manifest's list of files; raise FolderError if an entry is malformed."""
    if not isinstance(values, dict):
        raise FolderError("lists no files", AGAIN, file=manifest)
    found = {}
    for name, entry in values.items():
        match entry:
            case {"size": int(size), "sha256": str(sha256)} if (
                len(entry) == 2
                and PLAIN_NAME.fullmatch(name)
                and name != MANIFEST
                and type(size) is int
                and size >= 0
                and SHA256.fullmatch(sha256)
            ):
                found[name] = ManifestEntry(size, sha256)
            case _:
                raise FolderError(f"has an entry {name[:40]!r} that is none", AGAIN, file=manifest)
    return found


def require_same_names(path: Path, listed: set[str], unlisted: set[str]) -> None:
    """Raise FolderError unless a folder has all listed files and, except `unlisted`, no others.

    Hidden files are ignored.
    """
    found = {name for name in list_names(path) if not name.startswith(".")}
    for name in sorted(listed - found):
        raise FolderError("is missing, but the manifest lists it", AGAIN, file=path / name)
    for name in sorted(found - listed - unlisted):
        raise FolderError(
            "lies here, but the manifest does not list it", "move it elsewhere", file=path / name
        )


def list_names(path: Path) -> set[str]:
    """Return the names of everything in a folder; raise FolderError if it cannot be read."""
    try:
        return {entry.name for entry in path.iterdir()}
    except OSError as error:
        raise unreadable_error(path, error) from error


def read_regular(path: Path, limit: int) -> bytes:
    """Return all bytes of a regular file; raise FolderError if they are more than `limit`."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size  # a file that is too large is not read
        data = stream.read(limit + 1) if size <= limit else b""
    if max(size, len(data)) > limit:
        raise FolderError(f"has more than {limit:,} bytes", AGAIN, file=path)
    return data


@contextmanager
def open_regular(path: Path) -> Iterator[BufferedReader]:
    """Context manager: open a regular file; raise FolderError for links, pipes and devices."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise FolderError("is no regular file", AGAIN, file=path)
            yield stream
    except OSError as error:
        raise unreadable_error(path, error) from error


def unreadable_error(path: Path, error: OSError) -> TransduceError:
    """Return a FolderError for an unreadable path, or another error if memory or files ran out.

    A missing permission is reported as such, not as damage. If memory or open files ran out, the
    error is no FolderError: a run would take it for damage and skip a sound checkpoint.
    """
    if exhaustion := find_exhaustion(error):
        return exhaustion
    if error.errno == errno.ELOOP:
        return FolderError("is a link, and links are not followed here", AGAIN, file=path)
    hint = PERMISSION if isinstance(error, PermissionError) else AGAIN
    return FolderError(f"cannot be read: {error.strerror}", hint, file=path)


def require_size(path: Path, entry: ManifestEntry, stream: BufferedReader) -> None:
    """Raise FolderError if a file's size differs from its manifest entry, or it is mostly holes.

    A sparse file can take hardly any disk, but hashing a terabyte of its zeros takes minutes.
    """
    found = os.fstat(stream.fileno()).st_size
    if found != entry.size:
        fact = f"is not as it was written: expected {entry.size:,} bytes, found {found:,}"
        raise FolderError(f"{fact} (expected sha256 {entry.sha256})", AGAIN, file=path)
    if is_nearly_empty(stream.fileno()):
        fact = f"has {entry.size:,} bytes, of which the disk holds less than a thousandth"
        raise FolderError(fact, AGAIN, file=path)


def is_nearly_empty(descriptor: int) -> bool:
    """Return whether an open file is over 4 GiB and the disk holds under a thousandth of it."""
    found = os.fstat(descriptor)
    least = found.st_size >> 10
    if found.st_size <= SPARSE_LIMIT or found.st_blocks * 512 >= least:
        return False
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        # some file systems report no blocks for any file
        return has_less_data(descriptor, least, if_in_doubt=found.st_blocks > 0)
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)


def has_less_data(descriptor: int, least: int, *, if_in_doubt: bool) -> bool:
    """Return whether a file stores under `least` bytes; `if_in_doubt` if it has too many holes.

    A file of more than `MOST_EXTENTS` parts is in doubt: the answer is then `if_in_doubt`.
    """
    stored = end = 0
    for _ in range(MOST_EXTENTS):
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
        except OSError as error:
            return error.errno == errno.ENXIO  # nothing but holes up to the end
        stored += end - start
        if stored >= least:
            return False
    return if_in_doubt


def require_sha256(path: Path, entry: ManifestEntry, found: str) -> None:
    """Raise FolderError if a file's computed sha256 differs from its manifest entry."""
    if found != entry.sha256:
        fact = f"is not as it was written: expected sha256 {entry.sha256}, found {found}"
        raise FolderError(fact, AGAIN, file=path)
