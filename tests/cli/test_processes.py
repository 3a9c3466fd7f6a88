"""How many processes and threads the commands take that use trained models."""

from pathlib import Path

import pytest
import torch

from transduce.cli import searching
from transduce.cli.searching import ModelOptions, count_file_lines

FAST = ("--beam=1", "--extra-length=1")


@pytest.fixture
def quiet(monkeypatch, tmp_path):
    """A quiet machine of eight cores, and a file of 4,500 lines."""
    monkeypatch.setattr(searching, "available_cpus", lambda: 8)
    monkeypatch.setattr(searching, "estimate_own_load", lambda _: 0.0)
    monkeypatch.setattr(searching, "free_memory_bytes", lambda: 1e12)
    (tmp_path / "text").write_text("a dog\n" * 4_500)
    return tmp_path / "text"


def choose(path):
    return ModelOptions().choose_workers(lambda most: count_file_lines(path, most), ())


def test_a_file_gets_a_worker_for_every_thousand_lines(quiet):
    assert choose(quiet) == 4
    quiet.write_text("a dog\n" * 100_000)
    assert choose(quiet) == 8


@pytest.mark.usefixtures("quiet")
def test_what_is_no_regular_file_is_never_read_to_count_it():
    assert choose(Path("-")) == 1
    assert choose(Path("/dev/zero")) == 1


@pytest.mark.usefixtures("quiet")
def test_a_file_called_like_standard_input_is_left_alone(call, model, tmp_path, monkeypatch):
    (tmp_path / "-").write_text("junk\n" * 3)
    monkeypatch.chdir(tmp_path)
    said = call("translate", model, *FAST, stdin=b"a dog\n").stdout
    assert said.count("\n") == 1
    assert call("translate", model, *FAST, "-o", tmp_path / "-", stdin=b"a dog\n").code == 0
    assert (tmp_path / "-").read_text() == said
    ended = call("translate", model, "--shard=1/1", "-o", "shards", stdin=b"a dog\n")
    assert ended.stderr.startswith("error: -: a shard is a part of a text file")


def test_busy_cores_a_gpu_and_models_that_fill_the_memory_leave_one(quiet, monkeypatch, tmp_path):
    with monkeypatch.context() as busy:
        busy.setattr(searching, "estimate_own_load", lambda _: 7.0)
        assert choose(quiet) == 1
    with monkeypatch.context() as on_gpu:
        on_gpu.setattr("transduce.machine.device.select_device", lambda: torch.device("cuda"))
        assert choose(quiet) == 1
    monkeypatch.setattr(searching, "free_memory_bytes", lambda: 1e9)
    model = tmp_path / "run/checkpoints/step-1/model.safetensors"
    model.parent.mkdir(parents=True)
    with model.open("wb") as file:
        file.truncate(300_000_000)
    lines = ModelOptions().choose_workers(lambda most: min(most, 9_000), [tmp_path / "run"])
    assert lines == 2


def test_the_number_that_the_user_gives_holds():
    assert ModelOptions(workers=3).choose_workers(lambda _: 0, []) == 3


@pytest.mark.parametrize("command", ["translate", "evaluate", "likelihood"])
def test_a_command_takes_one_thread_or_those_asked_for(call, babbler, tmp_path, command):
    (tmp_path / "a").write_text("\n")  # nothing to search
    (tmp_path / "b").write_text("a dog\n")
    files = [tmp_path / "a", *([tmp_path / "b"] if command != "translate" else [])]
    before = torch.get_num_threads()
    try:
        for options, threads in (((), 1), (("--threads=2",), 2)):
            torch.set_num_threads(3)
            assert call(command, babbler, *files, *options).code == 0
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_threads_and_workers_exclude_each_other(call, babbler):
    ended = call("translate", babbler, *FAST, "--threads=2", "--workers=2", stdin=b"a dog")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == (
        "error: --threads is for one process, and --workers are processes of one thread each\n"
        "hint: give one of them\n"
    )


def test_loading_a_model_in_python_changes_no_number_of_threads(babbler):
    import transduce

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        transduce.load(babbler)("a dog")
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
