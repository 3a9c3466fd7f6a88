"""A location that cannot be written to is refused before step 1; nothing outside it changes."""

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

from transduce.checkpoint import checkpoints, steps
from transduce.checkpoint.run_file import create_run
from transduce.cli.main import transduce
from transduce.cli.outcome import run as invoked
from transduce.durable.lock import create_and_lock_folder
from transduce.errors import FolderError, SaveError
from transduce.runs.training_run import OURS
from transduce.settings import Recipe

NOBODY = 65534
LONG = "x" * 300


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """All that training imports: another user may not be allowed to read it."""
    workspace = write_corpus(tmp_path_factory.mktemp("first"), pairs=30)
    assert invoked(transduce, arguments(workspace, workspace / "run")) == 0


def arguments(workspace, output):
    text = [f"--source={workspace}/a.en", f"--target={workspace}/a.de"]
    less = ["--set=training.steps=2", "--set=training.threads=1", "--quiet"]
    return ["train", "tiny", *text, *less, "-o", str(output)]


@pytest.fixture
def workspace(imported):  # noqa: ARG001 - what it did matters
    """A folder with a corpus, that any user may look at."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield write_corpus(Path(folder), pairs=30)


def trained(workspace, output, *, here=None):
    """The exit code and the words of `transduce train` by somebody who is not root."""
    words = workspace.parent / f"{workspace.name}.words"
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.chdir(here or workspace)
            if here is not None:
                here.rmdir()
            with words.open("w", encoding="utf-8") as stderr:
                os.dup2(stderr.fileno(), 2)
                sys.stderr = stderr
                if os.geteuid() == 0:
                    os.setresgid(NOBODY, NOBODY, NOBODY)
                    os.setresuid(NOBODY, NOBODY, NOBODY)
                code = invoked(transduce, arguments(workspace, output))
                stderr.flush()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = words.read_text(encoding="utf-8").splitlines(keepends=True)
    stderr = "".join(line for line in told if not line.startswith("warning: "))  # of a tiny text
    words.unlink()
    return status, stderr


def unwritable(workspace):
    (workspace / "locked").mkdir(mode=0o555)
    return "locked/run"


def read_only_run(workspace):
    (workspace / "run").mkdir(mode=0o555)
    return "run"


def dangling_link(workspace):
    (workspace / "link").symlink_to("nowhere")
    return "link"


def link_in_a_circle(workspace):
    (workspace / "link").symlink_to("link")
    return "link/run"


def file_of_that_name(workspace):
    (workspace / "run").write_text("mine")
    return "run"


def file_as_parent(workspace):
    (workspace / "file").write_text("mine")
    return "file/run"


def long_name(_):
    return LONG


def long_path(_):
    return "/".join(["y" * 200] * 30)


def in_a_run(workspace, name):
    """A run folder in which a name is a link to somewhere else."""
    (workspace / "run").mkdir()
    (workspace / "other").mkdir()
    (workspace / "other" / "file").write_text("mine")
    (workspace / "run" / name).symlink_to(workspace / "other" / ("file" if "." in name else ""))
    for path in (workspace / "run", workspace / "other", workspace / "other" / "file"):
        path.chmod(0o777)
    return "run"


def saves_elsewhere(workspace):
    return in_a_run(workspace, "checkpoints")


def snapshots_elsewhere(workspace):
    return in_a_run(workspace, "snapshots")


def log_elsewhere(workspace):
    return in_a_run(workspace, "log.jsonl")


def first_file_elsewhere(workspace):
    return in_a_run(workspace, "run.json")


def lock_elsewhere(workspace):
    return in_a_run(workspace, "lock")


CASES = (
    unwritable, read_only_run, dangling_link, link_in_a_circle, file_of_that_name,
    file_as_parent, long_name, long_path, saves_elsewhere, snapshots_elsewhere, log_elsewhere,
    first_file_elsewhere, lock_elsewhere,
)  # fmt: skip


def contents(workspace, *, but):
    """Everything below a folder but one name in it."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"
        for path in workspace.rglob("*")
        if path.relative_to(workspace).parts[0] != but
    }


def require_refused(code, stderr):
    """A sentence and a hint, and no step was taken."""
    assert code in (2, 3, 4), stderr
    assert stderr.startswith("error: "), stderr
    assert stderr.count("\nhint: ") == 1, stderr
    assert "Traceback" not in stderr
    assert "could not be written" not in stderr


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__.replace("_", " "))
def test_a_folder_that_cannot_hold_a_run_is_refused_before_the_first_step(workspace, case, record):
    output = case(workspace)
    before = contents(workspace, but="run")
    code, stderr = trained(workspace, output)
    require_refused(code, stderr)
    assert contents(workspace, but="run") == before
    assert not list(workspace.glob("run/checkpoints/step-*"))
    record(exit_code=code, because=stderr.split("\n")[0].rsplit(": ")[-1])


@contextlib.contextmanager
def mounted(workspace, *options):
    """A file system of our own, or a reason to skip."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a file system")
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(workspace)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this system mounts no such file system: {' '.join(options)}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(workspace)], check=True)


@pytest.mark.slow
def test_a_read_only_disk_is_refused_before_the_first_step(workspace, record):
    (workspace / "disk").mkdir()
    with mounted(workspace / "disk", "ro"):
        code, stderr = trained(workspace, "disk/run")
    require_refused(code, stderr)
    assert "read-only file system" in stderr
    record(exit_code=code, because=stderr.split("\n")[0].rsplit(": ")[-1])


@pytest.mark.slow
def test_a_deleted_current_folder_is_reported(workspace, record):
    (workspace / "here").mkdir(mode=0o777)
    code, stderr = trained(workspace, "run", here=workspace / "here")
    require_refused(code, stderr)
    record(exit_code=code, because=stderr.split("\n")[0].rsplit(": ")[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "öäü", "-", "a b"], ids=ascii)
def test_a_strange_name_is_a_name(workspace, name, record):
    (workspace / name).mkdir(mode=0o777)
    (workspace / name).chmod(0o777)
    code, stderr = trained(workspace, workspace / name)
    assert (code, stderr) == (0, "")
    (workspace / name / "run.json").chmod(0o444)
    (workspace / name / "run.json").unlink()
    (workspace / name / "mine").touch()
    code, stderr = trained(workspace, workspace / name)
    require_refused(code, stderr)
    assert not any(ord(c) < 32 and c != "\n" for c in stderr)
    assert stderr.count("\n") == 2
    record(exit_code=0)


def test_names_of_ours_differ_by_more_than_their_case(record):
    assert len({name.casefold() for name in OURS}) == len(OURS)
    record(names=len(OURS))


@pytest.mark.slow
def test_on_a_disk_that_knows_no_case_the_same_run_is_found(workspace, record):
    disk = workspace / "disk"
    disk.mkdir()
    with mounted(disk, "mode=777", "casefold"):
        if subprocess.run(["chattr", "+F", disk], check=False, capture_output=True).returncode:
            pytest.skip("this file system does not forget the case of names")
        assert trained(workspace, "disk/RUN") == (0, "")
        assert trained(workspace, "disk/run") == (0, "")
        assert {path.name for path in disk.iterdir()} == {"RUN"}
    record(exit_code=0)


def test_a_run_folder_that_vanishes_ends_the_run_and_comes_not_back(tmp_path, record):
    stderr: list[str] = []
    run, training = tmp_path / "run", training_of(steps=9, checkpoint_minutes=1e-9)

    def batches(step):
        from tests.training.tiny import batches

        if step == 3:
            shutil.rmtree(run)
        return batches(step)

    with pytest.raises(SaveError) as caught:
        train_folder(run, training, on_message=stderr.append, batches=batches)
    assert "was moved or deleted while it was trained" in caught.value.fact
    assert not stderr  # it is not tried again
    assert not run.exists()
    record(exit_code=caught.value.exit_code)


@pytest.mark.parametrize("move", [shutil.rmtree, lambda run: run.rename(run.with_name("moved"))])
def test_the_clean_up_of_a_lock_hides_no_error_of_a_folder_that_vanished(tmp_path, move):
    def lose():
        with create_and_lock_folder(tmp_path / "run"):
            move(tmp_path / "run")
            raise SaveError("was moved or deleted")

    with pytest.raises(SaveError, match="was moved or deleted"):
        lose()


def test_a_folder_that_only_the_way_to_a_refused_place_needed_is_deleted(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(SaveError, match="file exists"),
        create_and_lock_folder(tmp_path / "new" / ".." / "file"),
    ):
        pytest.fail("a file is no folder")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_the_control_whose_clean_up_looks_into_the_folder_hides_the_error(
    tmp_path, monkeypatch, record
):
    def lose():
        with create_and_lock_folder(tmp_path / "run"):
            shutil.rmtree(tmp_path / "run")
            raise SaveError("was moved or deleted")

    monkeypatch.setattr("transduce.durable.lock.list_entries", os.scandir)
    with pytest.raises(FileNotFoundError):
        lose()
    record(hidden_errors=1)


def linked(tmp_path):
    """A run whose saves would lie elsewhere."""
    create_run(tmp_path / "run", Recipe(name="tiny"), {})
    (tmp_path / "other").mkdir()
    (tmp_path / "run" / "checkpoints").symlink_to(tmp_path / "other")
    return tmp_path / "run"


def test_the_control_that_checks_the_first_checkpoint_only_is_caught(tmp_path, monkeypatch, record):
    run = linked(tmp_path)
    with pytest.raises(FolderError, match="is a link to another place"):
        train_folder(run)
    assert not (run / "log.jsonl").exists(), "no step was taken"
    monkeypatch.setattr(checkpoints, "list_steps", lambda _: [])
    with pytest.raises(SaveError):
        train_folder(run)
    lines = (run / "log.jsonl").read_text(encoding="utf-8").count('"update"')
    record(steps_before_it_was_refused=lines)
    assert lines > 0


def test_the_control_that_follows_links_is_caught(tmp_path, monkeypatch, record):
    run = linked(tmp_path)
    before = contents(tmp_path, but="run")
    monkeypatch.setattr(steps, "require_real_folder", lambda _: None)
    train_folder(run)
    files = len(contents(tmp_path, but="run")) - len(before)
    record(files_written_outside=files)
    assert files > 0
