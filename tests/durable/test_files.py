"""One file is whole or absent."""

import errno
import fcntl
import os
import stat
from contextlib import ExitStack
from pathlib import Path

import pytest

from transduce.durable.files import (
    atomic_file,
    ensure_folder,
    new_folders,
    temporary_path,
    trash_path,
    write_atomically,
)
from transduce.durable.folder import atomic_folder, require_own_folder, resolve_output
from transduce.durable.lock import create_and_lock_folder
from transduce.errors import InputError, SaveError


def test_a_file_has_the_bytes_that_were_written(tmp_path):
    write_atomically(tmp_path / "a", b"once")
    write_atomically(tmp_path / "a", b"twice")
    assert (tmp_path / "a").read_bytes() == b"twice"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_folders_on_the_way_are_made(tmp_path):
    write_atomically(tmp_path / "x" / "y" / "a", b"deep")
    assert (tmp_path / "x" / "y" / "a").read_bytes() == b"deep"


@pytest.mark.parametrize(
    "make",
    [
        ensure_folder,
        lambda folder: ExitStack().enter_context(new_folders(folder)),
        lambda folder: ExitStack().enter_context(create_and_lock_folder(folder)),
    ],
)
def test_a_folder_that_cannot_be_looked_for_is_a_save_error(tmp_path, make):
    with pytest.raises(SaveError, match="cannot be written: file name too long"):
        make(tmp_path / ("n" * 300) / "a")
    assert not [*tmp_path.iterdir()]


def test_the_mode_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_file_that_is_replaced_keeps_its_mode_from_the_first_byte(tmp_path):
    (tmp_path / "a").touch(mode=0o600)
    with atomic_file(tmp_path / "a") as stream:
        stream.write(b"private")
        assert {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path):
    write_atomically(tmp_path / "a", b"old")

    def interrupted():
        with atomic_file(tmp_path / "a") as stream:
            stream.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_short_writes_are_continued(tmp_path, monkeypatch):
    whole = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, bytes(data)[:7]))
    write_atomically(tmp_path / "a", bytes(range(256)))
    monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == bytes(range(256))


def test_a_disk_that_takes_no_bytes_and_says_nothing_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(SaveError, match="input/output error"):
        write_atomically(tmp_path / "a", b"some")


@pytest.mark.parametrize("name", ["write", "fsync", "open"])
@pytest.mark.parametrize("number", ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EFBIG", "EACCES"])
def test_a_fault_names_the_file_and_a_next_move(tmp_path, monkeypatch, name, number):
    write_atomically(tmp_path / "a", b"old")
    calls = []

    def refuse(*arguments, **_):
        calls.append(arguments)
        raise OSError(getattr(errno, number), "said by the system")

    monkeypatch.setattr(os, name, refuse)
    with pytest.raises(SaveError) as error:
        write_atomically(tmp_path / "a", b"new")
    monkeypatch.undo()
    assert error.value.fact.startswith(f"{tmp_path / 'a'}: cannot be written: ")
    assert error.value.hint
    assert error.value.exit_code == 4
    assert len(calls) == 1, "a fault is never tried again on the same file"
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_macos_is_asked_to_empty_the_disk_s_own_cache(tmp_path, monkeypatch):
    asked, plain = [], os.fsync
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda _, command: asked.append(command))
    monkeypatch.setattr(os, "fsync", lambda _: asked.append("fsync"))
    write_atomically(tmp_path / "a", b"some")
    assert asked == [51, 51]  # the file, and the folder that has its name

    def not_here(*_):
        raise OSError(errno.ENOTSUP, "a file system of others")

    monkeypatch.setattr(fcntl, "fcntl", not_here)
    monkeypatch.setattr(os, "fsync", plain)
    write_atomically(tmp_path / "a", b"other")
    monkeypatch.setattr(fcntl, "fcntl", faulty)
    with pytest.raises(SaveError, match="input/output error"):
        write_atomically(tmp_path / "a", b"lost")


def faulty(*_):
    raise OSError(errno.EIO, "a broken disk")


def test_what_a_killed_process_left_under_the_same_name_goes(tmp_path):
    left = [temporary_path(tmp_path / name) for name in ("a", "b", "a-b")]
    left.append(trash_path(tmp_path / "a"))
    for path in left:
        path.write_bytes(b"half of")
    with atomic_file(tmp_path / "a") as stream:
        stream.write(b"new")
        write_atomically(tmp_path / "a", b"the other writer's, which is alive, stays")
    assert {path.name for path in tmp_path.iterdir()} == {"a", left[1].name, left[2].name}
    assert (tmp_path / "a").read_bytes() == b"new"


def test_an_error_of_the_caller_stays_what_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "a"):
        (tmp_path / "no such input").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_a_device_or_folder_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(InputError, match=f"{name}: is no regular file"):
            write_atomically(tmp_path / name, b"")
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "folder"}


def test_an_output_that_is_a_link_is_written_where_the_link_leads(tmp_path):
    target, link = tmp_path / "real/out.txt", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to(target)
    for content in (b"first", b"second"):  # the first time the target is not there yet
        write_atomically(resolve_output(link), content)
        assert target.read_bytes() == content
        assert link.is_symlink()
    assert resolve_output(target) == target


def test_a_link_in_a_circle_is_no_output(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="is a link that leads back to itself"):
        resolve_output(tmp_path / "a")


def test_a_device_is_written_and_stays_a_device():
    write_atomically(Path("/dev/null"), b"nothing")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(SaveError, match="/dev/full: cannot be written: no space left"):
        write_atomically(Path("/dev/full"), b"too much")


def test_a_pipe_is_written_as_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    (tmp_path / "link").symlink_to("pipe")
    write_atomically(resolve_output(tmp_path / "link"), b"through")
    assert os.read(reader, 99) == b"through"
    os.close(reader)


@pytest.mark.parametrize("inside", ["m/out.txt", "m/new/out.txt"])
def test_no_output_is_written_into_a_sealed_folder(tmp_path, inside):
    with atomic_folder(tmp_path / "m", kind="model", about={}):
        pass
    with pytest.raises(InputError, match="is a model, store or checkpoint, and another file would"):
        resolve_output(tmp_path / inside)
    with (
        pytest.raises(InputError, match="another file would damage it"),
        atomic_folder(tmp_path / inside, kind="export", about={}),
    ):
        pass
    with pytest.raises(InputError, match="another file would damage it"):
        require_own_folder(tmp_path / inside, "run.json", (), "run")
    assert [one.name for one in (tmp_path / "m").iterdir()] == ["manifest.json"]


def test_only_a_folder_with_the_mark_of_its_kind_holds_no_other(tmp_path):
    (tmp_path / "text").write_text("a file of the user")
    require_own_folder(tmp_path / "small", "text", (), "distillation", "text/manifest.json")
    (tmp_path / "run.json").touch()
    with pytest.raises(InputError, match="lies in another run"):
        require_own_folder(tmp_path / "small", "run.json", (), "run", "run.json")


@pytest.mark.parametrize("name", ["n" * 254 + "m", "\u00fc" * 127 + "n", "\udcff" * 254 + "m"])
def test_a_name_may_have_all_the_bytes_that_the_system_allows(tmp_path, name):
    write_atomically(tmp_path / name, b"old")
    write_atomically(tmp_path / name, b"new")
    assert (tmp_path / name).read_bytes() == b"new"
    with atomic_folder(tmp_path / name[::-1], kind="k", about={}) as writer:
        writer.write("a", b"")
    assert {p.name for p in tmp_path.iterdir()} == {name, name[::-1]}


def test_a_longer_name_is_refused_and_what_was_left_of_a_long_one_is_deleted(tmp_path):
    left = temporary_path(tmp_path / ("n" * 255))
    left.write_bytes(b"")
    write_atomically(tmp_path / ("n" * 255), b"")
    assert not left.exists()
    with pytest.raises(SaveError, match="cannot be written: file name too long"):
        write_atomically(tmp_path / ("n" * 256), b"")
