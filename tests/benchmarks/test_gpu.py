"""`benchmarks/gpu` where no GPU is: what it says, a rehearsal, and its section of the page."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from benchmarks.on_gpu import __main__ as command
from benchmarks.on_gpu.page import section
from benchmarks.summary import page

ROOT = Path(__file__).parents[2]
CUDA_ONLY = ("as one graph", "FlexAttention")


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_it_says_so_in_one_sentence(capsys):
    assert command.main([]) == 2
    said = capsys.readouterr().err
    assert said.startswith("no GPU is here (torch ")
    assert "--rehearse runs tiny shapes on the processor" in said
    assert said.count("\n") == 1


@pytest.mark.soak
def test_every_part_runs_in_a_rehearsal(tmp_path):
    done = subprocess.run(
        ["benchmarks/gpu", "--rehearse", "--output", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (file,) = tmp_path.glob("gpu-*.json")
    found = json.loads(file.read_text("utf-8"))
    assert list(found["parts"]) == [command.TITLES[part] for part in command.SECONDS]
    for part, package in (("peers", "transformers"), ("ctranslate2", "ctranslate2")):
        if find_spec(package) is None:
            absent = found["parts"].pop(command.TITLES[part])
            assert absent["ended"] == f"was left out, as the package {package} is not installed"
    for title, part in found["parts"].items():
        assert part["ended"] == "", title
        assert part["cases"], title
        for case in part["cases"]:
            if any(name in case["name"] for name in CUDA_ONLY):
                assert "error" in case
            else:
                assert "error" not in case, case
    assert "A rehearsal on a processor: the figures mean nothing." in done.stdout


def stopped(part, cases):
    return {
        "command": "c",
        "at": "t",
        "rehearsal": False,
        "machine": {"GPU": "X"},
        "ceiling": 2.0,
        "parts": {part: {"ended": "was stopped after 3 s", "cases": cases}},
    }


def test_what_was_measured_before_a_part_was_stopped_is_on_the_page():
    good = {"name": "a", "ms": 1.5, "lowest": 1, "highest": 2, "TFLOP/s": 1.0, "whole": 1}
    bad = {"name": "b", "error": "RuntimeError: no"}
    lines = section(stopped("A whole update", [good, bad]))
    assert "| a | 1.500 (1.000..2.000) | 1.000 | 50% |" in lines
    assert "- not measured: b (RuntimeError: no)" in lines
    assert "The part was stopped after 3 s; the table has what it had measured." in lines


def test_cases_that_differ_by_the_size_of_a_head_alone_are_a_row_with_the_largest_figures():
    cases = [
        {"name": "attention, past only, d_k 16, d_v 16", "output": 0.25, "d q": 0.125},
        {"name": "attention, past only, d_k 64, d_v 64", "output": 0.125, "d q": 0.5},
        {"name": "losses, compiled", "losses": 0.75},
    ]
    lines = section(stopped("Whether results agree", cases))
    assert "| attention, past only | 0.250 | 0.500 |  |" in lines
    assert "| losses, compiled |  |  | 0.750 |" in lines


def test_a_part_that_takes_too_long_leaves_what_it_wrote(monkeypatch):
    def slow(command, *, stdout, timeout, **_):
        stdout.write('{"name": "a", "ms": 1.0}\n{"name": "b", "m')
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", slow)
    part = command.part_of("loss", 3.0, command.arguments(["--rehearse"]))
    assert part["cases"] == [{"name": "a", "ms": 1.0}]
    assert part["ended"] == "was stopped after 3 s"


def test_all_parts_together_stay_below_nine_minutes():
    assert sum(command.SECONDS.values()) <= command.MOST
    assert [*command.SECONDS, *command.WITH_TEXT] == list(command.TITLES)


def test_the_section_is_the_last_of_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "PAGE", tmp_path / "speed.md")
    made = page({}, None)
    assert "Written, not run on one" in made
    command.PAGE.write_text(made)
    (tmp_path / "found.json").write_text(json.dumps(stopped("The loss", [])))
    for _ in range(2):
        assert command.main(["--page", str(tmp_path / "found.json")]) == 0
    assert command.PAGE.read_text().count("## On a GPU") == 1
    assert "GPU X" in command.PAGE.read_text()


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["training"])
    assert "no part is called training" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["reading"])
    assert "reading needs --text MODEL FILE" in capsys.readouterr().err
