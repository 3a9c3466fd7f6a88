"""One process at a time works in a folder."""

import os
import signal
import time

import pytest

from transduce.durable.files import temporary_path, trash_path, write_atomically
from transduce.durable.folder import atomic_folder, remove_folder
from transduce.durable.lock import acquire_lock, lock_folder
from transduce.errors import InUseError


def in_a_child(act):
    """Fork, act, and end without any cleaning; the parent gets the child's id."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    return child


def ended(child, number=0):
    if number:
        os.kill(child, number)
    os.waitpid(child, 0)


def held_by_a_child(folder):
    """A child that holds the folder until it is killed."""
    ready, tell = os.pipe()

    def stay():
        with lock_folder(folder):
            os.write(tell, b"1")
            time.sleep(60)

    child = in_a_child(stay)
    assert os.read(ready, 1) == b"1"
    os.close(ready)
    os.close(tell)
    return child


def test_a_second_process_is_refused_with_the_name_of_the_first(tmp_path):
    child = held_by_a_child(tmp_path)
    try:
        with pytest.raises(InUseError) as error, lock_folder(tmp_path):
            pytest.fail("two hold one folder")
    finally:
        ended(child, signal.SIGKILL)
    assert error.value.fact.startswith(
        f"{tmp_path}: another process works here (process {child} on {os.uname().nodename}, since "
    )
    assert error.value.hint == "wait for it to end, or choose another folder"
    assert error.value.exit_code == 6


def test_the_same_process_is_refused_too(tmp_path):
    with lock_folder(tmp_path), pytest.raises(InUseError), lock_folder(tmp_path):
        pytest.fail("two hold one folder")


def test_the_lock_goes_with_a_killed_process(tmp_path):
    ended(held_by_a_child(tmp_path), signal.SIGKILL)
    with lock_folder(tmp_path):
        pass
    with lock_folder(tmp_path):
        pass


def test_a_forked_worker_neither_keeps_nor_releases_the_lock(tmp_path):
    with lock_folder(tmp_path):
        worker = in_a_child(lambda: time.sleep(60))
        ended(in_a_child(lambda: None))  # its end releases nothing
        with pytest.raises(InUseError), lock_folder(tmp_path):
            pytest.fail("two hold one folder")
    try:
        with lock_folder(tmp_path):
            pass
    finally:
        ended(worker, signal.SIGKILL)


def test_what_the_lock_says_cannot_harm_a_terminal(tmp_path):
    child = held_by_a_child(tmp_path)
    (tmp_path / "lock").write_bytes(b"\x1b[2J\xff\nme")
    try:
        with pytest.raises(InUseError, match=r"\(\[2J\ufffdme\)"), lock_folder(tmp_path):
            pytest.fail("two hold one folder")
    finally:
        ended(child, signal.SIGKILL)


def test_leftovers_of_killed_processes_are_cleaned_and_nothing_else(tmp_path):
    inner = tmp_path / "checkpoints"
    keep = ["keep", ".tmp-mine", ".hidden", ".tmp-0123456789abcdef"]
    for place in (tmp_path, inner):
        for path in (temporary_path(place / "file"), trash_path(place / "folder")):
            write_atomically(path / "inside", b"half")
        temporary_path(place / "file").write_bytes(b"half")
        temporary_path(place / "link").symlink_to(tmp_path)
        for name in keep:
            (place / name).touch()
    with lock_folder(tmp_path):
        pass
    assert {p.name for p in tmp_path.iterdir() if not p.is_symlink()} == {
        *keep,
        "checkpoints",
        "lock",
    }
    assert {p.name for p in inner.iterdir() if not p.is_symlink()} == set(keep)


def test_what_another_process_still_writes_is_left_alone(tmp_path):
    with atomic_folder(tmp_path / "f", kind="store", about={}) as writer:
        writer.write("a", b"alpha")
        with lock_folder(tmp_path):
            pass
        writer.write("b", b"beta")
    assert (tmp_path / "f" / "b").read_bytes() == b"beta"
    remove_folder(tmp_path / "f")


def test_a_lock_file_that_was_deleted_meanwhile_locks_nothing(tmp_path):
    (tmp_path / "lock").touch()
    descriptor = os.open(tmp_path / "lock", os.O_RDWR)
    (tmp_path / "lock").unlink()
    for _ in range(2):  # the file is gone, then it is another one
        with pytest.raises(InUseError, match="another process has just removed this folder"):
            acquire_lock(descriptor, tmp_path)
        (tmp_path / "lock").touch()
    os.close(descriptor)
