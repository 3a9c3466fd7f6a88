"""Copy a run to another address after every checkpoint, and bring it back from there.

The address is a folder, or one that fsspec opens, such as s3://bucket/run. Files lie there under
their sha256, and copy.json lists the files of the run. It is written last and in one piece, so that
an interrupted copy leaves the previous one intact. fsspec comes with torch.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, final

from transduce.checkpoint.run_file import RUN_FILE, is_run, read_run_id
from transduce.checkpoint.steps import find_newest_step
from transduce.durable.files import (
    atomic_file,
    delete,
    delete_leftovers,
    new_folders,
    raise_save_errors,
    require_disk_space,
    temporary_path,
    write_atomically,
)
from transduce.durable.folder import SHA256
from transduce.durable.json import from_checksummed_json, to_checksummed_json
from transduce.durable.lock import LOCK
from transduce.errors import FolderError, InputError, SaveError, TransduceError
from transduce.runs.texts import decode_name, hash_file
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.training.distributed.rank import SignalRequests
from transduce.training.progress import TrainingCallbacks

LIST, FILES = "copy.json", "files"
PUT_BACK = "put back the file, or begin anew with another address"
AGAIN = "see that the address can be reached and written; the same command tries again"


@final
class RunCopy:
    """A run's copy at a path or address, to restore the run from and to save new files to."""

    def __init__(self, address: str) -> None:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]
        from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

        require(address != "", "the address of the copy is empty", "a dot, '.', names this folder")
        self.address = re.sub("(?<=//)[^/@]*@", "…@", address)  # in messages, without a password
        with self.refuse_faults():
            self.system, root = url_to_fs(address)
            self.root = root.rstrip("/")
        self.is_local = isinstance(self.system, LocalFileSystem)
        fact = "is in the memory of this process, and would be lost when it ends"
        if any(part.partition("://")[0] == "memory" for part in address.split("::")):
            raise InputError(fact, "name a folder, or s3://BUCKET/NAME", file=address)
        self.hashes: dict[Path, tuple[tuple[int, int], str]] = {}  # (size, time of change), sha256

    def restore(self, run: Path) -> None:
        """Copy the files, if any, back into the new or empty folder `run`; refuse damaged files.

        A folder that is there stays, because it may be a link or the root of a disk.
        """
        if not (listed := self.read_list()):
            return
        is_there = run.exists()
        folder = temporary_path(run / "copy" if is_there else run)
        with new_folders(run.parent), ExitStack() as at_end:
            at_end.callback(delete, folder)
            for name, (size, digest) in listed["files"].items():
                path = folder / name
                with raise_save_errors(path):
                    path.parent.mkdir(parents=True, exist_ok=True)
                require_disk_space(path.parent, size, path, "free some space, then start again")
                with self.refuse_faults():
                    self.system.get_file(self.locate(digest), str(path))
                if (path.stat().st_size, hash_file(path)) != (size, digest):
                    fact = f"the copy's file {name} is damaged"
                    raise FolderError(fact, PUT_BACK, file=self.address)
            with raise_save_errors(run):
                if is_there:
                    for entry in sorted(folder.iterdir(), key=lambda one: one.name == RUN_FILE):
                        entry.rename(run / entry.name)  # last of all run.json, which makes it a run
                else:
                    folder.rename(run)

    def require_own_place(self) -> None:
        """Raise InputError if the address has no copy but something else, such as a model."""
        with self.refuse_faults():
            self.system.invalidate_cache()
            is_there = self.system.exists(self.root)
            paths = self.system.ls(self.root, detail=False) if is_there else []
        names = {PurePosixPath(path).name for path in paths}
        names = {name for name in names if not name.startswith(".")}
        fact = "holds something else, and no copy of a run"
        if LIST not in names and names - {FILES}:
            raise InputError(fact, "choose an address of its own", file=self.address)

    def require_same_run(self, run: Path) -> Mapping[str, Any] | None:
        """Return what `read_list` returns; refuse a copy of another run, or one ahead of `run`."""
        listed = self.read_list()
        if not (listed and is_run(run)):
            return listed
        if listed["run"] != read_run_id(run):
            fact = "holds a copy of another run"
            raise InputError(fact, "choose another address", file=self.address)
        step = find_newest_step(run) or 0
        if listed["step"] > step:
            raise InputError(
                f"the copy is ahead, at step {listed['step']}; {run} is at step {step}",
                f"move {run} away, and the same command goes on from the copy",
                file=self.address,
            )
        return listed

    def save(self, run: Path) -> None:
        """Copy a run's new files, then the list of all its files; delete outdated copies.

        Raises SaveError on failure, and InputError for a copy of another run or ahead of `run`.
        """
        before = self.require_same_run(run)  # another machine may go on with the same run
        there = {digest for _, digest in (before["files"] if before else {}).values()}
        with self.refuse_faults(SaveError, "the run could not be copied"):
            files = {name: self.hash_once(path) for name, path in list_files(run)}
            self.system.makedirs(f"{self.root}/{FILES}", exist_ok=True)
            there &= self.list_there()  # a listed file may be lost
            for name, (size, digest) in files.items():
                if digest not in there:
                    self.put_file(run / name, digest)
                    if self.system.size(self.locate(digest)) != size:
                        raise OSError(f"{name} has another size there")
            listed = {"run": read_run_id(run), "step": find_newest_step(run) or 0, "files": files}
            data = to_checksummed_json(listed)
            if self.is_local:  # where fsspec writes a file bit by bit
                write_atomically(Path(self.root, LIST), data)
            else:
                self.system.pipe_file(f"{self.root}/{LIST}", data)
            kept = {digest for _, digest in files.values()}
            for name in self.list_there() - kept:  # of an earlier copy, perhaps an interrupted one
                self.system.rm_file(self.locate(name))
            if self.is_local:
                delete_leftovers(Path(self.root))  # of copies that were killed

    def list_there(self) -> set[str]:
        """Return the hashes of all files at the address; none before the first file is there."""
        folder = f"{self.root}/{FILES}"  # in an object store only files make folders
        self.system.invalidate_cache()
        paths = self.system.ls(folder, detail=False) if self.system.exists(folder) else []
        return set(filter(SHA256.fullmatch, (PurePosixPath(path).name for path in paths)))

    def put_file(self, path: Path, digest: str) -> None:
        """Copy a file there, synced to disk if that is a local one, before the list names it."""
        if not self.is_local:
            self.system.put_file(str(path), self.locate(digest))
            return
        with path.open("rb") as source, atomic_file(Path(self.locate(digest))) as target:
            shutil.copyfileobj(source, target, 1 << 20)

    def locate(self, digest: str) -> str:
        """Return the address of a file with this sha256."""
        return f"{self.root}/{FILES}/{digest}"

    def read_list(self) -> Mapping[str, Any] | None:
        """Return a dict of the copy's "run" (id), "step" and "files"; None if there is no copy.

        "files" maps names to [size, sha256]. Raises FolderError if the list is malformed.
        """
        path = f"{self.root}/{LIST}"
        with self.refuse_faults():
            self.system.invalidate_cache()
            if not self.system.exists(path):
                return None
            if not self.system.isfile(path):
                raise OSError(f"{LIST} is no regular file")  # a pipe would wait for a writer
            data = self.system.cat_file(path)
        match listed := from_checksummed_json(data, Path(path)):
            case {"run": str(), "step": int(), "files": dict() as files} if files:
                if all(is_copy_entry(name, about) for name, about in files.items()):
                    return listed
        raise FolderError("is not as a copy's list is written", PUT_BACK, file=path)

    def hash_once(self, path: Path) -> tuple[int, str]:
        """Return a file's size and sha256, which is computed again only if the file has changed."""
        about = path.stat()
        state = about.st_size, about.st_mtime_ns
        if path not in self.hashes or self.hashes[path][0] != state:
            self.hashes[path] = state, hash_file(path)
        return about.st_size, self.hashes[path][1]

    @contextmanager
    def refuse_faults(
        self, kind: type[TransduceError] = InputError, fact: str = "cannot be opened"
    ) -> Iterator[None]:
        """Context manager that turns exceptions into a `kind` error with `fact` and the address."""
        try:
            yield
        except Exception as fault:  # each kind of storage has errors of its own
            reason = str(fault).strip().split("\n")[0][:200] or type(fault).__name__
            raise kind(f"{fact}: {reason}", AGAIN, file=self.address) from fault


def open_copy(address: str, run: Path) -> RunCopy:
    """Return the copy at an address; if the folder `run` is missing or empty, restore it first.

    Refuses a copy of another run, a copy that is ahead of the run, a folder that is neither empty
    nor a run while there is a copy, and an address inside the run or with something else.
    """
    copy = RunCopy(address)
    if copy.is_local and Path(copy.root).resolve().is_relative_to(run.resolve()):
        raise InputError("is inside the run", "choose another address", file=address)
    copy.require_own_place()
    is_empty = run.is_dir() and all(entry.name.startswith(".") for entry in run.iterdir())
    if is_empty or not run.exists():
        copy.restore(run)
    elif copy.require_same_run(run) and not is_run(run):
        fact = f"has a copy of a run, and {run} holds something else"
        hint = f"move {run} away, and the same command goes on from the copy"
        raise InputError(fact, hint, file=address)
    return copy


Observe = Callable[[Recipe], AbstractContextManager[tuple[TrainingCallbacks, SignalRequests]]]


def observe_and_copy(observe: Observe, copy: RunCopy | None, run: Path) -> Observe:
    """Return `observe`, extended to copy the run after every checkpoint and at the end.

    A failed copy is only a warning, except the last one, which is an error. If `copy` is None,
    `observe` is returned unchanged.
    """
    if copy is None:
        return observe

    @contextmanager
    def observe_copied(recipe: Recipe) -> Iterator[tuple[TrainingCallbacks, SignalRequests]]:
        with observe(recipe) as (callbacks, requests):

            def on_checkpoint(step: int) -> None:
                callbacks.on_checkpoint(step)
                try:
                    copy.save(run)
                except TransduceError as fault:
                    callbacks.warn(fault.fact)

            yield replace(callbacks, on_checkpoint=on_checkpoint), requests
        copy.save(run)

    return observe_copied


def list_files(run: Path) -> Iterator[tuple[str, Path]]:
    """Yield the relative name and the path of each file of a run, without lock and hidden files."""
    for folder, folders, names in os.walk(run, followlinks=True):
        folders[:] = sorted(
            name
            for name in folders
            if not (
                name.startswith(".") or run.resolve().is_relative_to(Path(folder, name).resolve())
            )
        )  # a linked store is copied, too, but no link to a folder above
        for name in sorted(names):
            path = Path(folder, name)
            is_text = decode_name(path) == name  # the list cannot hold a name that is no UTF-8
            if is_text and not name.startswith(".") and path != run / LOCK:
                yield path.relative_to(run).as_posix(), path


def is_copy_entry(name: str, about: object) -> bool:
    """Return whether `name` is a path inside the run, and `about` is [size, sha256].

    The list may come from a stranger, and its names and hashes become paths.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        return False
    match about:
        case [int(), str(digest)]:
            return SHA256.fullmatch(digest) is not None
    return False
