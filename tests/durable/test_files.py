"""One file is whole or absent."""

import errno
import os
import stat

import pytest

from transduce.durable import whole_file, write_whole
from transduce.errors import InputError, SaveError


def test_a_file_has_the_bytes_that_were_written(tmp_path):
    write_whole(tmp_path / "a", b"once")
    write_whole(tmp_path / "a", b"twice")
    assert (tmp_path / "a").read_bytes() == b"twice"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_folders_on_the_way_are_made(tmp_path):
    write_whole(tmp_path / "x" / "y" / "a", b"deep")
    assert (tmp_path / "x" / "y" / "a").read_bytes() == b"deep"


def test_the_mode_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path):
    write_whole(tmp_path / "a", b"old")

    def interrupted():
        with whole_file(tmp_path / "a") as stream:
            stream.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_short_writes_are_continued(tmp_path, monkeypatch):
    whole = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, bytes(data)[:7]))
    write_whole(tmp_path / "a", bytes(range(256)))
    monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == bytes(range(256))


def test_a_disk_that_takes_no_bytes_and_says_nothing_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(SaveError, match="input/output error"):
        write_whole(tmp_path / "a", b"some")


@pytest.mark.parametrize("name", ["write", "fsync", "open"])
@pytest.mark.parametrize("number", ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EFBIG", "EACCES"])
def test_a_fault_names_the_file_and_a_next_move(tmp_path, monkeypatch, name, number):
    write_whole(tmp_path / "a", b"old")
    calls = []

    def fault(*arguments, **_):
        calls.append(arguments)
        raise OSError(getattr(errno, number), "said by the system")

    monkeypatch.setattr(os, name, fault)
    with pytest.raises(SaveError) as error:
        write_whole(tmp_path / "a", b"new")
    monkeypatch.undo()
    assert error.value.fact.startswith(f"{tmp_path / 'a'}: cannot be written: ")
    assert error.value.hint
    assert error.value.exit_code == 4
    assert len(calls) == 1, "a fault is never tried again on the same file"
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_an_error_of_the_caller_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "a"):
        (tmp_path / "no such input").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_a_device_or_folder_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(InputError, match=f"{name}: is no regular file"):
            write_whole(tmp_path / name, b"")
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "folder"}
