"""Full disks, closed pipes, two at once: what a system does to commands."""

import functools
import resource
import subprocess
import time
from pathlib import Path

import pytest
from tests.journeys.commands import tiny

pytestmark = pytest.mark.slow
FULL = Path("/dev/full")


def small_files(limit):
    """No file of this process may grow beyond so many bytes."""
    return functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))


def test_a_reader_that_leaves_early_is_no_fault(settled):
    (settled.folder / "many").write_bytes(b"a dog\n" * 1_500)  # as JSON more than a pipe holds
    with settled.start(
        "translate", "m", "many", "--json", "--beam=1", "--extra-length=1"
    ) as process:
        subprocess.run(["head", "-1"], stdin=process.stdout, stdout=subprocess.DEVNULL, check=True)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output_is_reported(settled):
    with FULL.open("wb") as full:
        code, _, stderr = settled.run(
            "translate", "m", "--extra-length=1", stdin=b"a dog\n", stdout=full
        )
    assert code == 4
    assert stderr == (
        "error: cannot write: No space left on device\n"
        "hint: free some disk space and repeat the command\n"
    )


def test_an_output_on_a_full_disk_is_not_written_at_all(settled):
    before = settled.names()
    code, _, stderr = settled.run(
        "translate", "m", "a.en", "-o", "out", "--extra-length=1", preexec_fn=small_files(10)
    )
    assert code == 4
    assert "out: cannot be written: file too large\nhint: no file may be so large here" in stderr
    assert settled.names() == before


def test_a_model_on_a_full_disk_is_not_written_at_all(settled):
    before = settled.names()
    code, _, stderr = settled.run("average", "run", "-o", "other", preexec_fn=small_files(50_000))
    assert code == 4
    assert "model.safetensors: cannot be written: file too large\n" in stderr
    assert settled.names() == before


def test_a_full_disk_during_preparation_is_reported_and_resumed(workspace):
    command = ("prepare", "tiny", "--source", "a.en", "--target", "a.de", "-o", "p")
    code, _, stderr = workspace.run(*command, preexec_fn=small_files(3_000))
    assert code == 4
    assert "cannot be written: file too large\nhint: " in stderr
    workspace.good(*command)
    workspace.good("verify", "p")


def test_training_on_a_full_disk_reports_it_and_resumes_later(workspace):
    command = ("train", *tiny(steps=8), "-o", "run")
    code, _, stderr = workspace.run(*command, preexec_fn=small_files(150_000))
    assert code == 4
    assert "the snapshot of step 5 could not be written: " in stderr
    assert "cannot be written: file too large" in stderr
    assert "\nerror: " in stderr
    assert "\nhint: a warning says why; the same command resumes from step 0\n" in stderr
    assert not [*workspace.folder.glob("run/checkpoints/step-*")]
    workspace.good(*command)
    workspace.good("verify", "run")


def test_a_full_disk_is_reported_and_the_run_resumes_when_space_is_free(workspace, small_disk):
    (small_disk / "ballast").write_bytes(bytes(4_500_000))
    command = ("train", *tiny(steps=8, training__checkpoint_minutes=0.0001), "-o", "disk/run")
    code, _, stderr = workspace.run(*command)
    assert code == 4
    assert "hint: free some space" in stderr
    assert "Traceback" not in stderr
    (small_disk / "ballast").unlink()
    workspace.good(*command)
    workspace.good("verify", "disk/run")


def test_two_processes_in_one_folder_are_one_too_many(workspace):
    with workspace.start("train", *tiny(steps=100_000), "-o", "run") as first:
        while not (workspace.folder / "run" / "run.json").exists():
            time.sleep(0.05)
        code, _, stderr = workspace.run("train", *tiny(steps=100_000), "-o", "run")
        first.kill()
    assert code == 6
    assert f"run: another process works here (process {first.pid} on " in stderr
    assert "\nhint: wait for it to end, or choose another folder\n" in stderr
