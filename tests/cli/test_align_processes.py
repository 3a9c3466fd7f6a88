"""transduce align with several processes, which share the pairs of two files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forked import Forked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.workers,
    pytest.mark.skipif(sys.platform != "linux", reason="workers are forked"),
]

PAIRS = [(f"the dog sees {number} cats.", f"{number} a woman") for number in range(600)]


@pytest.fixture
def folder(babbler, tmp_path):
    """A folder with a model of random weights and 601 pairs, one of which is too long for it."""
    shutil.copytree(babbler, tmp_path / "model")
    pairs = [*PAIRS, ("red " * 3000, "a")]
    for index, name in enumerate(("source", "target")):
        (tmp_path / name).write_text("".join(f"{pair[index]}\n" for pair in pairs))
    return tmp_path


def align_in_two(folder, *options):
    files = [str(folder / name) for name in ("model", "source", "target")]
    typed, pipe = ("align", *files, "--workers=2", *options), subprocess.PIPE
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    process = Forked(typed, cwd=Path(), env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    output, errors = (stream or b"" for stream in process.communicate())
    return process.returncode, output.decode(), errors.decode()


def align_in_one(call, folder, *options):
    files = [folder / name for name in ("model", "source", "target")]
    ended = call("align", *files, "--workers=1", *options)
    return ended.code, ended.stdout, ended.stderr


def test_two_workers_give_the_links_and_the_warnings_of_one_process(call, folder):
    code, output, errors = align_in_two(folder)
    assert code == 0
    assert len(set(output.splitlines())) > 3
    assert (code, output, errors) == align_in_one(call, folder)
    assert "601" in errors


def test_workers_read_the_heads_that_are_named_or_stored(call, folder):
    chosen = ("--layer=2", "--heads=2", "--unshifted", "--json")
    code, output, _ = align_in_two(folder, *chosen)
    assert (code, output) == align_in_one(call, folder, *chosen)[:2]
    assert json.loads(output.splitlines()[7])["line"] == 8
    few = [folder / "few.source", folder / "few.target"]
    few[0].write_text("the dog sees a woman\n" * 2)
    few[1].write_text("a woman sees 5\n" * 2)
    gold = folder / "gold"
    gold.write_text("0-0 1-1\n" * 2)
    assert call("align", folder / "model", *few, "--choose", gold).code == 0
    assert align_in_two(folder)[1] == align_in_one(call, folder)[1]


def test_a_pair_refused_by_a_worker_ends_the_command(call, folder):
    code, _, errors = align_in_two(folder, "--strict")
    assert (code, errors) == align_in_one(call, folder, "--strict")[::2]
    assert code == 2
