"""One folder is whole or absent."""

import errno
import os
import resource
import subprocess
import tempfile
from pathlib import Path

import pytest

from transduce.durable.files import private_folder, write_atomically
from transduce.durable.folder import atomic_folder, open_folder, remove_folder
from transduce.errors import InputError, SaveError


def write(path, **about):
    with atomic_folder(path, kind="store", about=about) as writer:
        writer.write("a", b"alpha")
        with writer.open("b") as stream:
            stream.write(b"be")
            stream.write(b"ta")


def names(path):
    return sorted(entry.name for entry in path.iterdir())


def test_what_was_written_is_read(tmp_path):
    write(tmp_path / "deep" / "f", step=3)
    found = open_folder(tmp_path / "deep" / "f", "store")
    assert found.about == {"step": 3}
    assert (found.read("a"), found.read("b")) == (b"alpha", b"beta")
    assert found.verified_path("b") == tmp_path / "deep" / "f" / "b"
    found.verify()


@pytest.mark.parametrize("name", ["../a", "/a", "", ".hidden", "a/b", "manifest.json", "a\n"])
def test_a_name_that_is_no_plain_file_is_our_mistake(tmp_path, name):
    with (
        pytest.raises(AssertionError),
        atomic_folder(tmp_path / "f", kind="store", about={}) as writer,
    ):
        writer.write(name, b"")
    assert names(tmp_path) == []


def test_what_exists_is_not_written_over(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("empty", "file", "link"):
        with pytest.raises(InputError) as error:
            write(tmp_path / name)
        assert error.value.fact == f"{tmp_path / name}: exists already"
        assert error.value.hint == "choose another name, or delete it first"


def test_what_came_into_being_meanwhile_is_not_written_over(tmp_path):
    def write_later():
        with atomic_folder(tmp_path / "f", kind="store", about={}) as writer:
            writer.write("a", b"alpha")
            (tmp_path / "f").mkdir()

    with pytest.raises(InputError, match="exists already"):
        write_later()
    assert names(tmp_path) == ["f"]
    assert names(tmp_path / "f") == []


@pytest.mark.parametrize("name", ["f", "new/and/newer/f"])
def test_an_interrupt_leaves_nothing(tmp_path, name):
    def interrupted():
        with atomic_folder(tmp_path / name, kind="store", about={}) as writer:
            writer.write("a", b"alpha")
            with writer.open("b") as stream:
                stream.write(b"be")
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == []


def test_a_folder_is_replaced_also_by_a_path_that_leads_through_it(tmp_path):
    write(tmp_path / "f")
    through = tmp_path / "f" / ".." / "f"
    with atomic_folder(through, kind="model", about={}, require_free=lambda _: None):
        pass
    assert open_folder(tmp_path / "f", "model").files == {}
    assert names(tmp_path) == ["f"]


def test_a_removed_folder_leaves_nothing(tmp_path):
    write(tmp_path / "f")
    remove_folder(tmp_path / "f")
    assert names(tmp_path) == []


CALLS = ("mkdir", "open", "write", "fsync", "rename", "replace", "unlink", "rmdir")


def act_at_each_step(monkeypatch, act):
    """Let `act(name, arguments, call)` stand between us and the system."""
    for name in CALLS:
        call = getattr(os, name)

        def stand_in(*arguments, name=name, call=call, **others):
            return act(name, arguments, lambda: call(*arguments, **others))

        monkeypatch.setattr(os, name, stand_in)


def final_path(descriptor):
    """The end of the path that a descriptor stands for, without what is random in it."""
    name = Path(f"/proc/self/fd/{descriptor}").readlink().name
    return "temporary" if name.startswith((".tmp-", ".trash-")) else name


@pytest.mark.parametrize("turn", [1, 2])
def test_another_process_that_replaces_the_folder_at_the_same_time_is_named(
    tmp_path, monkeypatch, turn
):
    write(tmp_path / "f", by="the first")
    write(tmp_path / "other", by="the other")
    calls = iter((1, 2))

    def replace_meanwhile(name, _, call):
        if name == "rename" and next(calls, 0) == turn:
            if turn == 1:
                (tmp_path / "f").replace(tmp_path / "moved")
            else:
                (tmp_path / "other").replace(tmp_path / "f")
        return call()

    act_at_each_step(monkeypatch, replace_meanwhile)
    with (
        pytest.raises(SaveError, match="another process moved or wrote it at the same time"),
        atomic_folder(tmp_path / "f", kind="store", about={}, require_free=lambda _: None),
    ):
        pass
    left = tmp_path / ("moved" if turn == 1 else "f")
    assert open_folder(left, "store").about == {"by": "the first" if turn == 1 else "the other"}
    assert not list(tmp_path.glob(".tmp-*"))


def test_everything_is_on_the_disk_before_the_name_is_given(tmp_path, monkeypatch):
    (tmp_path / "parent").mkdir()
    told = []

    def note(name, arguments, call):
        if name == "fsync":
            told.append(f"fsync {final_path(arguments[0])}")
        elif name in ("rename", "replace"):
            told.append("rename")
        return call()

    act_at_each_step(monkeypatch, note)
    write(tmp_path / "parent" / "f")
    assert told == [
        "fsync a", "fsync b", "fsync manifest.json", "fsync temporary", "rename", "fsync parent",
    ]  # fmt: skip


def test_the_name_is_gone_for_good_before_the_first_file_goes(tmp_path, monkeypatch):
    write(tmp_path / "f")
    told = []

    def note(name, _, call):
        told.append(name)
        return call()

    act_at_each_step(monkeypatch, note)
    remove_folder(tmp_path / "f")
    assert told[told.index("rename") :].index("fsync") < told[told.index("rename") :].index(
        "unlink"
    )


def outcome(act):
    """What could not be saved, or nothing."""
    try:
        act()
    except SaveError as error:
        return error
    return None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
def test_whatever_call_fails_the_name_is_not_given(tmp_path, monkeypatch, number):
    failed_at: list[str] = []
    parent = tmp_path
    for nth in range(1, 100):
        parent = tmp_path / str(nth)
        parent.mkdir()
        count = 0

        def fail(name, _, call, nth=nth):
            nonlocal count
            if name not in ("unlink", "rmdir"):  # the cleaning afterwards works
                count += 1
                if count == nth:
                    failed_at.append(name)
                    raise OSError(number, os.strerror(number))
            return call()

        with monkeypatch.context() as patch:
            act_at_each_step(patch, fail)
            error = outcome(lambda parent=parent: write(parent / "f"))
        if error is None:
            break
        assert f"{parent / 'f'}" in error.fact
        assert "cannot be written: " in error.fact
        assert error.hint
        assert names(parent) == [], f"after a failed {failed_at[-1]}, call {nth}"
    open_folder(parent / "f", "store").verify()
    assert {"mkdir", "open", "write", "fsync", "rename"} == set(failed_at)


def test_a_file_system_that_syncs_no_folders_is_no_fault(tmp_path, monkeypatch):
    def refuse(name, arguments, call):
        if name == "fsync" and Path(f"/proc/self/fd/{arguments[0]}").is_dir():
            raise OSError(errno.EINVAL, "no such thing")
        return call()

    act_at_each_step(monkeypatch, refuse)
    write(tmp_path / "f")
    open_folder(tmp_path / "f", "store").verify()


def test_a_file_over_the_limit_of_the_system_is_reported(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with (
            pytest.raises(SaveError, match="f/big: cannot be written: file too large"),
            atomic_folder(tmp_path / "f", kind="store", about={}) as writer,
        ):
            writer.write("big", bytes(20_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert names(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KB."""
    parent = tmp_path / "small"
    parent.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(parent)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("skipped: there is no mount here")
    if done.returncode:
        pytest.skip("skipped: a file system of our own needs root")
    yield parent
    subprocess.run(["umount", str(parent)], check=True)


def test_a_full_disk_keeps_what_was_there(small_disk):
    write(small_disk / "first")

    def too_much():
        with atomic_folder(small_disk / "second", kind="store", about={}) as writer:
            writer.write("small", bytes(100))
            writer.write("big", bytes(1_000_000))

    with pytest.raises(SaveError) as error:
        too_much()
    assert error.value.fact.endswith("second/big: cannot be written: no space left on device")
    assert "free some space" in error.value.hint
    assert names(small_disk) == ["first"]
    open_folder(small_disk / "first", "store").verify()


@pytest.mark.parametrize("umask", [0o777, 0o577, 0o477, 0o377, 0o177])
def test_a_umask_that_takes_the_users_own_rights_leaves_nothing_behind(umask, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o777)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        child = os.fork()
        if child == 0:
            try:
                if os.geteuid() == 0:  # root may do what no rights allow
                    os.setgid(65_534)
                    os.setuid(65_534)
                os.umask(umask)
                with pytest.raises(SaveError):
                    write(place / "f")
                with private_folder("own-") as own:
                    write_atomically(own / "a", b"alpha")
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert names(place) == []
