"""All shards of a text as tasks of Ray, on a cluster of this machine."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.exports.random_members import save_member, shapes
from tests.external.environments import make_environment
from tests.external.test_exports import text_member

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
LINES = [f"the {word} sees {number} cats" for number in range(400) for word in ("dog", "cat")]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("ray"), ["ray"])


def translate(python, folder, *words):
    command = [python, "-m", "transduce", "translate", "model", "text.en", *words]
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(SOURCES)}
    return subprocess.Popen(command, cwd=folder, env=known, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, said = process.communicate()
    assert process.returncode == 0, said
    return said


def read(folder):
    return [(path / "output.txt").read_bytes() for path in sorted(folder.glob("shard-*"))]


def find_workers():
    """The processes of Ray that run a task."""
    found = subprocess.run(["pgrep", "-f", "ray::run_command"], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def test_a_worker_that_is_killed_changes_nothing(python, tmp_path):
    save_member(text_member(shapes()["untied"]), tmp_path / "model")
    (tmp_path / "text.en").write_text("".join(f"{line}\n" for line in LINES))
    finish(translate(python, tmp_path, "--shard=1/1", "-o", "whole"))
    running = translate(python, tmp_path, "--on=ray", "--shard=all/3", "-o", "parts")
    killed = 0
    while running.poll() is None and not killed:
        for number in find_workers():
            os.kill(number, signal.SIGKILL)
            killed += 1
        time.sleep(0.05)
    assert killed
    assert "3 of 3 shards ended" in finish(running)
    assert b"".join(read(tmp_path / "parts")) == b"".join(read(tmp_path / "whole"))
    finish(translate(python, tmp_path, "--on=ray", "--shard=all/3", "-o", "parts"))
