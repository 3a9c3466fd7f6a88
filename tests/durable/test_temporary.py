"""Temporary folders: private, deleted at the end, and deleted later if a process was killed."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from transduce.durable import files
from transduce.durable.files import private_folder, write_atomically

PREFIX = "transduce-test-"
HOLDING = f"""
import sys, time
from transduce.durable.files import private_folder
with private_folder({PREFIX!r}) as folder:
    (folder / "rendezvous").write_text("x")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def own_tmpdir(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def held():
    """A process that holds a folder, and the folder's path."""
    process = subprocess.Popen([sys.executable, "-c", HOLDING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_private_folder_is_this_user_s_alone_and_gone_at_the_end(tmp_path):
    with private_folder(PREFIX) as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "file").touch()
    assert names(tmp_path) == []


def test_what_a_killed_process_left_goes_at_the_next_start_and_a_living_one_s_stays(tmp_path):
    living, kept = held()
    killed, left = held()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert os.path.exists(left)  # noqa: PTH110 - a path that was printed
    with private_folder(PREFIX) as folder:
        assert names(tmp_path) == sorted([folder.name, os.path.basename(kept)])  # noqa: PTH119
    living.terminate()
    living.communicate()


def test_links_and_other_names_are_left_alone(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / f"{PREFIX}file").touch()
    before = names(tmp_path)
    with private_folder(PREFIX):
        pass
    assert names(tmp_path) == before
    assert names(tmp_path / "elsewhere") == ["file"]


def test_a_file_that_another_process_took_for_abandoned_is_made_again(tmp_path, monkeypatch):
    mark_alive, marked = files.mark_alive, list[int]()

    def delete_first(descriptor):
        mark_alive(descriptor)
        marked.append(descriptor)
        if len(marked) == 1:
            (temporary,) = (path for path in tmp_path.iterdir() if path.name.startswith("."))
            temporary.unlink()

    monkeypatch.setattr(files, "mark_alive", delete_first)
    write_atomically(tmp_path / "file", b"all of it")
    assert (tmp_path / "file").read_bytes() == b"all of it"
    assert names(tmp_path) == ["file"]


def test_a_folder_that_another_process_took_for_abandoned_is_made_again(tmp_path, monkeypatch):
    make, made = tempfile.mkdtemp, list[str]()

    def make_and_delete_first(**options):
        made.append(make(**options))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_delete_first)
    with private_folder(PREFIX) as folder:
        assert [str(folder), *names(tmp_path)] == [made[1], folder.name]
    assert names(tmp_path) == []
