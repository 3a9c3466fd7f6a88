"""A run that is copied to another address goes on from there on a machine that never saw it."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar
from unittest.mock import ANY

import pytest
from fsspec import register_implementation  # type: ignore[import-untyped]
from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]
from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]
from tests.runs.corpora import TOY, prepared_toy
from tests.runs.test_resume import numbers

import transduce
from transduce.checkpoint.steps import find_newest_step
from transduce.durable.files import list_entries
from transduce.durable.json import from_checksummed_json, read_json, to_checksummed_json
from transduce.errors import FolderError, InputError, SaveError
from transduce.runs.copies import RunCopy, list_files
from transduce.runs.texts import hash_file

SETTINGS = {"training.checkpoint_minutes": 1e-9}  # after every update


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return prepared_toy(tmp_path_factory.mktemp("toy") / "store").folder


@pytest.fixture
def train(store, tmp_path):
    """Train the toy in a folder with a copy, to a step; return the run."""

    def go(folder="run", steps=TOY.training.steps, copy=tmp_path / "copy", **more):
        settings = SETTINGS | {"training.steps": steps}
        return transduce.train(
            tmp_path / folder, recipe=TOY, store=store, settings=settings, copy_to=copy, **more
        )

    return go


@pytest.fixture(scope="module")
def copied_once(store, tmp_path_factory):
    """The copy of a run after two updates."""
    folder = tmp_path_factory.mktemp("copied")
    settings = SETTINGS | {"training.steps": 2}
    copy = folder / "copy"
    transduce.train(folder / "run", recipe=TOY, store=store, settings=settings, copy_to=copy)
    return copy


@pytest.fixture
def copied(copied_once, tmp_path):
    """A run of which only the copy is left, after two updates."""
    return shutil.copytree(copied_once, tmp_path / "copy")


def test_a_run_goes_on_from_its_copy_as_if_it_had_never_stopped(train, copied, tmp_path):
    train("other", steps=12)
    shutil.rmtree(copied)
    train("unbroken", steps=12)
    ours, unbroken = (numbers(tmp_path / name, 12)[0] for name in ("other", "unbroken"))
    assert ours == unbroken


def test_nothing_stays_at_the_address_that_the_run_no_longer_has(copied):
    listed = read_json((copied / "copy.json").read_bytes(), copied)
    kept = {entry.name for entry in list_entries(copied / "files")}
    assert kept == {digest for _, digest in listed["files"].values()}


def test_a_copy_that_was_interrupted_leaves_the_one_before(train, copied):
    (copied / "files" / ("0" * 64)).write_bytes(b"half a file")  # the list does not name it
    assert train("other", steps=2).progress.step == 2
    assert not (copied / "files" / ("0" * 64)).exists()


class Killed(BaseException):
    """The process ends here."""


class EndingFiles(LocalFileSystem):  # type: ignore[misc]
    """A file system whose user is killed in the middle of change `last`, counted from 0."""

    cachable = False
    last = -1

    def count_down(self):
        self.last -= 1
        if self.last < 0:
            raise Killed

    def put_file(self, lpath, rpath, **_):
        half = Path(lpath).read_bytes()
        Path(rpath).write_bytes(half[: len(half) // 2])
        self.count_down()
        super().put_file(lpath, rpath)

    def rm_file(self, path):
        self.count_down()
        super().rm_file(path)


def test_a_copy_that_is_killed_anywhere_has_one_of_the_two_runs(train, tmp_path):
    old = hash_files(train(steps=1).folder)
    kept = shutil.copytree(tmp_path / "copy", tmp_path / "kept")
    new = hash_files(train(steps=2, copy=None).folder)
    found: list[dict[str, str]] = []
    is_killed = True
    while is_killed:
        shutil.rmtree(tmp_path / "copy")
        shutil.copytree(kept, tmp_path / "copy")
        copy = RunCopy(str(tmp_path / "copy"))
        copy.system = EndingFiles()
        copy.system.last = len(found)
        copy.is_local = False  # as where files are written bit by bit
        try:
            copy.save(tmp_path / "run")
        except Killed:
            is_killed = True
        else:
            is_killed = False
        RunCopy(str(tmp_path / "copy")).restore(tmp_path / f"back{len(found)}")
        found.append(hash_files(tmp_path / f"back{len(found)}"))
    assert found == sorted(found, key=[old, new].index)
    assert (found[0], found[-1]) == (old, new)


def hash_files(folder):
    return {name: hash_file(path) for name, path in list_files(folder)}


def test_a_list_that_was_edited_is_refused(train, copied):
    listed = copied / "copy.json"
    listed.write_bytes(listed.read_bytes().replace(b'"step"', b'"stop"', 1))
    with pytest.raises(FolderError, match=r"copy\.json"):
        train()


@pytest.mark.parametrize(
    "files",
    [
        {"extra": [9, "../../victim"]},
        {"extra": [9]},
        {"extra": 9},
        {"../extra": [9, "0" * 64]},
        {"": [9, "0" * 64]},
    ],
)
def test_a_list_of_a_stranger_leads_nowhere_else(train, copied, tmp_path, files):
    (tmp_path / "victim").write_text("of another program")
    listed = dict(from_checksummed_json((copied / "copy.json").read_bytes(), copied))
    listed["files"] |= files
    (copied / "copy.json").write_bytes(to_checksummed_json(listed))
    with pytest.raises(FolderError, match="is not as a copy's list is written"):
        train(steps=3)
    assert (tmp_path / "victim").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_list_that_is_no_file_is_not_waited_for(train, copied, make):
    (copied / "copy.json").unlink()
    make(copied / "copy.json")
    with pytest.raises(InputError, match=r"copy: cannot be opened: copy\.json is no regular file"):
        train(steps=3)


def test_an_address_that_holds_something_else_is_refused_before_training(train, tmp_path):
    for place in ("file", "model/card"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("of another program")
        with pytest.raises(InputError, match="holds something else"):
            train(copy=tmp_path / Path(place).parts[0])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", [".DS_Store", ".tmp-0123456789abcdef-copy.json"])
def test_an_address_with_nothing_but_a_hidden_file_is_taken(train, tmp_path, name):
    (tmp_path / "copy/files").mkdir(parents=True)  # as where the first copy was killed
    (tmp_path / "copy" / name).touch()
    train(steps=1)
    assert (tmp_path / "copy/copy.json").exists()


def test_a_password_in_an_address_is_in_no_message(train):
    with pytest.raises(InputError, match=r"^ftp://…@127\.0\.0\.1:9/x: cannot be opened") as refusal:
        train(copy="ftp://user:secret@127.0.0.1:9/x")
    assert "secret" not in str(refusal.value)


@pytest.mark.usefixtures("copied")
def test_a_link_to_an_empty_folder_stays_when_the_run_is_put_back(train, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / ".kept").touch()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    assert train(steps=3).progress.step == 3
    assert (tmp_path / "run").is_symlink()
    assert find_newest_step(tmp_path / "disk") == 3


def test_an_empty_address_is_refused(train):
    with pytest.raises(InputError, match="the address of the copy is empty"):
        train(copy="")


@pytest.mark.parametrize(
    "address", ["memory://run", "simplecache::memory://run", "dir::memory://r"]
)
def test_an_address_that_keeps_nothing_is_refused(train, tmp_path, address):
    with pytest.raises(InputError, match="in the memory of this process"):
        train(copy=address)
    assert not (tmp_path / "run").exists()


def test_what_only_has_the_name_of_a_step_is_none(train, tmp_path):
    run = train(steps=2).folder
    checkpoints = run / "checkpoints"
    (checkpoints / "step-99999999").write_text("of another program")
    (checkpoints / "step-88888888").mkdir()
    (checkpoints / "Kopie von step-00000002").mkdir()
    shutil.copytree(checkpoints / "step-00000002", checkpoints / "step-77777777")
    assert find_newest_step(run) == 2
    RunCopy(str(tmp_path / "other")).save(run)
    assert read_json((tmp_path / "other/copy.json").read_bytes(), run)["step"] == 2


def damage_largest(copied):
    """Change the last byte of the largest file of a copy; return its new bytes."""
    largest = max(list_entries(copied / "files"), key=lambda entry: entry.stat().st_size)
    content = largest.read_bytes()
    damaged = content[:-1] + bytes([content[-1] ^ 1])
    largest.write_bytes(damaged)
    return damaged


def test_a_damaged_file_of_a_copy_is_refused_and_leaves_no_folder(train, copied, tmp_path):
    damage_largest(copied)
    for folder in ("run", "new/folder/run"):
        with pytest.raises(FolderError, match="damaged"):
            train(folder)
    assert [one.name for one in tmp_path.iterdir()] == [copied.name]


def test_the_control_that_compares_no_hashes_brings_damage_back(copied, tmp_path, monkeypatch):
    monkeypatch.setattr("transduce.runs.copies.hash_file", lambda _: ANY)
    damaged = damage_largest(copied)
    RunCopy(str(copied)).restore(tmp_path / "run")
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert damaged in [path.read_bytes() for path in files]


def test_a_copy_of_another_run_is_left_alone(train, copied):
    shutil.copytree(copied, copied.with_name("kept"))
    train(copy=None, steps=1)
    with pytest.raises(InputError, match="holds a copy of another run"):
        train()


def test_a_copy_that_is_ahead_of_the_folder_is_not_overwritten(train, tmp_path):
    train(steps=1)
    shutil.copytree(tmp_path / "run", tmp_path / "stale")
    train(steps=2)
    with pytest.raises(InputError, match="the copy is ahead, at step 2"):
        train("stale")
    with pytest.raises(InputError, match="the copy is ahead"):  # at a checkpoint, too
        RunCopy(str(tmp_path / "copy")).save(tmp_path / "stale")


def test_an_address_inside_of_the_run_is_refused(train, tmp_path):
    with pytest.raises(InputError, match="is inside the run"):
        train(copy=tmp_path / "run/copy")


def test_where_nothing_can_be_written_training_ends_and_says_what_is_missing(train, tmp_path):
    (tmp_path / "file").write_text("no folder")
    warned: list[str] = []
    callbacks = transduce.TrainingCallbacks(on_warning=warned.append)
    with pytest.raises(SaveError, match="the run could not be copied"):
        train(steps=2, copy=tmp_path / "file/copy", callbacks=callbacks)
    assert any("could not be copied" in one for one in warned)
    assert train(steps=2, copy=None).progress.step == 2


@pytest.mark.parametrize("address", ["nowhere://bucket/run", "s3://bucket/run"])
def test_an_address_that_nothing_opens_is_refused_before_training(train, address, tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        train(copy=address)
    assert not Path(tmp_path, "run").exists()


@pytest.mark.usefixtures("copied")
def test_a_folder_that_holds_something_else_is_refused_before_training(train, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lock").touch()  # of a preparation that failed
    with pytest.raises(InputError, match=r"has a copy of a run, and .* holds something else"):
        train("other")
    assert not (tmp_path / "other" / "run.json").exists()


def test_a_file_that_is_lost_at_the_address_is_copied_again(train, tmp_path):
    run = train(steps=1).folder
    lost = next(iter(list_entries(tmp_path / "copy" / "files")))
    lost.unlink()
    RunCopy(str(tmp_path / "copy")).save(run)
    assert hash_file(lost) == lost.name


def test_every_file_of_a_copy_is_on_disk_before_the_list_names_it(train, tmp_path, monkeypatch):
    run = train(steps=1, copy=None).folder
    synced = list[str]()
    monkeypatch.setattr(
        os, "fsync", lambda one: synced.append(str(Path(f"/proc/self/fd/{one}").readlink()))
    )
    RunCopy(str(tmp_path / "fresh")).save(run)
    files = [hash_file(path) for _, path in list_files(run)]
    at_the_list = next(at for at, path in enumerate(synced) if "copy.json" in path)
    before = " ".join(synced[:at_the_list])
    assert all(digest in before for digest in files)


def test_a_name_that_is_no_utf_8_is_left_out_of_the_copy(train, tmp_path):
    run = train(steps=1).folder
    (run / os.fsdecode(b"caf\xe9")).touch()
    for _ in range(2):
        RunCopy(str(tmp_path / "copy")).save(run)
    assert train("again", steps=2).progress.step == 2


def test_a_disk_that_is_too_small_for_a_run_is_named_and_not_the_address(
    copied, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        os, "statvfs", lambda _: SimpleNamespace(f_bavail=0, f_frsize=1, f_blocks=9)
    )
    with pytest.raises(SaveError, match=r"needs .* MB, and 0\.0 MB are free on this disk"):
        RunCopy(str(copied)).restore(tmp_path / "back")
    assert not (tmp_path / "back").exists()


class Objects(MemoryFileSystem):  # type: ignore[misc]
    """An object store: a folder is there while files are in it, and no others can be listed."""

    protocol = "objects"
    store: ClassVar[dict[str, object]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def makedirs(self, path, exist_ok=False):
        pass

    def put_file(self, lpath, rpath, **_):
        self.pipe_file(rpath, Path(lpath).read_bytes())

    @classmethod
    def _strip_protocol(cls, path):
        return "/" + path.removeprefix("objects://").strip("/")


def test_a_run_is_copied_to_an_object_store_that_has_no_folders(train, tmp_path):
    register_implementation("objects", Objects, clobber=True)
    train(steps=1, copy="objects://bucket/run")
    train(steps=2, copy="objects://bucket/run")
    shutil.rmtree(tmp_path / "run")
    assert train(steps=3, copy="objects://bucket/run").progress.step == 3


def test_what_a_killed_copy_left_goes_with_the_next_copy(train, tmp_path):
    run = train(steps=1).folder
    left = tmp_path / "copy" / "files" / f".tmp-{'0' * 16}-{'a' * 64}"
    left.write_bytes(b"half a file")
    RunCopy(str(tmp_path / "copy")).save(run)
    assert not left.exists()
