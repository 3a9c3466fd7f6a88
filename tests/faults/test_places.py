"""A place where nothing can be kept: refused before the first step, and nothing outside changes."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.cli.language import write_corpus
from tests.training.run import train_folder
from tests.training.tiny import training_of

from transduce.checkpoint import create_run, resume, steps
from transduce.cli.main import transduce
from transduce.cli.outcome import run as invoked
from transduce.errors import FolderError, SaveError
from transduce.runs.run_folder import OURS
from transduce.settings import Recipe

NOBODY = 65534
LONG = "x" * 300


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """All that training imports: another user may not be allowed to read it."""
    place = write_corpus(tmp_path_factory.mktemp("first"), pairs=30)
    assert invoked(transduce, arguments(place, place / "run")) == 0


def arguments(place, output):
    text = [f"--source={place}/a.en", f"--target={place}/a.de"]
    less = ["--set=training.steps=2", "--set=training.threads=1", "--quiet"]
    return ["train", "tiny", *text, *less, "-o", str(output)]


@pytest.fixture
def place(imported):  # noqa: ARG001 - what it did matters
    """A folder with a corpus, that any user may look at."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield write_corpus(Path(folder), pairs=30)


def trained(place, output, *, here=None):
    """The exit code and the words of `transduce train` by somebody who is not root."""
    words = place.parent / f"{place.name}.words"
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.chdir(here or place)
            if here is not None:
                here.rmdir()
            with words.open("w", encoding="utf-8") as said:
                os.dup2(said.fileno(), 2)
                sys.stderr = said
                if os.geteuid() == 0:
                    os.setresgid(NOBODY, NOBODY, NOBODY)
                    os.setresuid(NOBODY, NOBODY, NOBODY)
                code = invoked(transduce, arguments(place, output))
                said.flush()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = words.read_text(encoding="utf-8")
    words.unlink()
    return status, said


def unwritable(place):
    (place / "locked").mkdir(mode=0o555)
    return "locked/run"


def read_only_run(place):
    (place / "run").mkdir(mode=0o555)
    return "run"


def dangling_link(place):
    (place / "link").symlink_to("nowhere")
    return "link"


def link_in_a_circle(place):
    (place / "link").symlink_to("link")
    return "link/run"


def file_of_that_name(place):
    (place / "run").write_text("mine")
    return "run"


def file_on_the_way(place):
    (place / "file").write_text("mine")
    return "file/run"


def long_name(_):
    return LONG


def long_path(_):
    return "/".join(["y" * 200] * 30)


def in_a_run(place, name):
    """A run folder in which a name is a link to somewhere else."""
    (place / "run").mkdir()
    (place / "other").mkdir()
    (place / "other" / "file").write_text("mine")
    (place / "run" / name).symlink_to(place / "other" / ("file" if "." in name else ""))
    for path in (place / "run", place / "other", place / "other" / "file"):
        path.chmod(0o777)
    return "run"


def saves_elsewhere(place):
    return in_a_run(place, "checkpoints")


def snapshots_elsewhere(place):
    return in_a_run(place, "snapshots")


def log_elsewhere(place):
    return in_a_run(place, "log.jsonl")


def first_file_elsewhere(place):
    return in_a_run(place, "run.json")


def lock_elsewhere(place):
    return in_a_run(place, "lock")


CASES = (
    unwritable, read_only_run, dangling_link, link_in_a_circle, file_of_that_name,
    file_on_the_way, long_name, long_path, saves_elsewhere, snapshots_elsewhere, log_elsewhere,
    first_file_elsewhere, lock_elsewhere,
)  # fmt: skip


def contents(place, *, but):
    """Everything below a folder but one name in it."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"
        for path in place.rglob("*")
        if path.relative_to(place).parts[0] != but
    }


def require_refused(code, said):
    """A sentence and a hint, and no step was taken."""
    assert code in (2, 3, 4), said
    assert said.startswith("error: "), said
    assert said.count("\nhint: ") == 1, said
    assert "Traceback" not in said
    assert "could not be written" not in said


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__.replace("_", " "))
def test_a_place_that_cannot_hold_a_run_is_refused_before_the_first_step(place, case, record):
    output = case(place)
    before = contents(place, but="run")
    code, said = trained(place, output)
    require_refused(code, said)
    assert contents(place, but="run") == before
    assert not list(place.glob("run/checkpoints/step-*"))
    record(exit_code=code, because=said.split("\n")[0].rsplit(": ")[-1])


@contextlib.contextmanager
def mounted(place, *options):
    """A file system of our own, or a reason to skip."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a file system")
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this system mounts no such file system: {' '.join(options)}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_read_only_disk_is_refused_before_the_first_step(place, record):
    (place / "disk").mkdir()
    with mounted(place / "disk", "ro"):
        code, said = trained(place, "disk/run")
    require_refused(code, said)
    assert "read-only file system" in said
    record(exit_code=code, because=said.split("\n")[0].rsplit(": ")[-1])


@pytest.mark.slow
def test_a_current_folder_that_is_gone_is_told(place, record):
    (place / "here").mkdir(mode=0o777)
    code, said = trained(place, "run", here=place / "here")
    require_refused(code, said)
    record(exit_code=code, because=said.split("\n")[0].rsplit(": ")[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "öäü", "-", "a b"], ids=ascii)
def test_a_strange_name_is_a_name(place, name, record):
    (place / name).mkdir(mode=0o777)
    (place / name).chmod(0o777)
    code, said = trained(place, place / name)
    assert (code, said) == (0, "")
    (place / name / "run.json").chmod(0o444)
    (place / name / "run.json").unlink()
    (place / name / "mine").touch()
    code, said = trained(place, place / name)
    require_refused(code, said)
    assert not any(ord(c) < 32 and c != "\n" for c in said)
    assert said.count("\n") == 2
    record(exit_code=0)


def test_names_of_ours_differ_by_more_than_their_case(record):
    assert len({name.casefold() for name in OURS}) == len(OURS)
    record(names=len(OURS))


@pytest.mark.slow
def test_on_a_disk_that_knows_no_case_the_same_run_is_found(place, record):
    disk = place / "disk"
    disk.mkdir()
    with mounted(disk, "mode=777", "casefold"):
        if subprocess.run(["chattr", "+F", disk], check=False, capture_output=True).returncode:
            pytest.skip("this file system does not forget the case of names")
        assert trained(place, "disk/RUN") == (0, "")
        assert trained(place, "disk/run") == (0, "")
        assert {path.name for path in disk.iterdir()} == {"RUN"}
    record(exit_code=0)


def test_a_run_folder_that_vanishes_ends_the_run_and_comes_not_back(tmp_path, record):
    said: list[str] = []
    run, training = tmp_path / "run", training_of(steps=9, checkpoint_minutes=1e-9)

    def batches(step):
        from tests.training.tiny import batches

        if step == 3:
            shutil.rmtree(run)
        return batches(step)

    with pytest.raises(SaveError) as caught:
        train_folder(run, training, on_message=said.append, batches=batches)
    assert "is not a run folder" in caught.value.fact
    assert len(said) == 3
    assert not run.exists()
    record(exit_code=caught.value.exit_code)


def linked(tmp_path):
    """A run whose saves would lie elsewhere."""
    create_run(tmp_path / "run", Recipe(name="tiny"), {})
    (tmp_path / "other").mkdir()
    (tmp_path / "run" / "checkpoints").symlink_to(tmp_path / "other")
    return tmp_path / "run"


def test_the_control_that_looks_only_at_the_first_save_is_caught(tmp_path, monkeypatch, record):
    run = linked(tmp_path)
    with pytest.raises(FolderError, match="is a link to another place"):
        train_folder(run)
    assert not (run / "log.jsonl").exists(), "no step was taken"
    monkeypatch.setattr(resume, "list_steps", lambda _: [])
    with pytest.raises(SaveError):
        train_folder(run)
    lines = (run / "log.jsonl").read_text(encoding="utf-8").count('"update"')
    record(steps_before_it_was_refused=lines)
    assert lines > 0


def test_the_control_that_follows_links_is_caught(tmp_path, monkeypatch, record):
    run = linked(tmp_path)
    before = contents(tmp_path, but="run")
    monkeypatch.setattr(steps, "require_no_link", lambda _: None)
    train_folder(run)
    files = len(contents(tmp_path, but="run")) - len(before)
    record(files_written_outside=files)
    assert files > 0
