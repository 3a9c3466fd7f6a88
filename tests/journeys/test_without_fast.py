"""The paper's chapters are whole: without `transduce.fast` everything works, only slower."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = "tests.paper.without_fast"
SMALL = {
    "architecture.layers": 1,
    "architecture.d_model": 32,
    "architecture.d_ff": 64,
    "architecture.heads": 2,
    "architecture.d_k": 16,
    "architecture.d_v": 16,
    "data.vocabulary_size": 260,
    "data.max_length": 30,
    "data.source_tokens": 60,
    "data.target_tokens": 60,
    "training.micro_batch_tokens": 200,
    "training.validate_every": 4,
}


def run(*arguments):
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def texts(tmp_path):
    """Two files of lines that are each other's translation."""
    lines = [f"{a} {b} {a}" for a in "abcdefgh" for b in "klmnopqr"]
    for name, some in (("source", lines), ("target", [line.upper() for line in lines])):
        (tmp_path / name).write_text("\n".join(some) + "\n", encoding="utf-8")
    return tmp_path


def train(folder, texts, steps):
    settings = SMALL | {"training.steps": steps}
    changes = [part for pair in settings.items() for part in ("--set", "=".join(map(str, pair)))]
    sides = [part for side in ("source", "target") for part in (f"--{side}", texts / side)]
    development = [
        part for side in ("source", "target") for part in (f"--dev-{side}", texts / side)
    ]
    run(WITHOUT, "train", "table3/base", *sides, *development, "-o", folder, *changes)


@pytest.mark.slow
def test_a_toy_trains_resumes_and_translates(texts, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(whole, texts, 8)
    train(parts, texts, 5)
    train(parts, texts, 8)
    found = [
        run(WITHOUT, "translate", one, texts / "source", "--nbest", 2) for one in (whole, parts)
    ]
    assert found[0] == found[1], "a resumed run has the bits of a run without a stop"
    assert len(found[0].splitlines()) == 2 * 64


def test_all_tests_of_the_paper_pass():
    run("pytest", "-q", "-p", WITHOUT, "-p", "no:cacheprovider", "tests/paper")
