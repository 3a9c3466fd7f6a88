"""Several processes at one text: in order, the same as one, and none left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
import types
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path

import pytest
from tests.forked import SERVER
from tests.inference.random_models import LINES, random_translator
from tests.processes import is_alive

from transduce.errors import InputError, LostProcessError
from transduce.inference import workers
from transduce.inference.lines import Line, number_lines, split_into_blocks
from transduce.inference.translator import Translator, report_warnings
from transduce.inference.workers import run_in_workers

pytestmark = [pytest.mark.workers, pytest.mark.slow]

MANY = [f"{line} {number}" if line else "" for number in range(12) for line in LINES]
ROOT = Path(__file__).parents[2]


def load() -> Translator:
    return random_translator()


def load_strict() -> Translator:
    return replace(random_translator(), strict=True)


def load_and_die(number: int) -> Translator:
    os.kill(os.getpid(), number)
    time.sleep(60)
    raise AssertionError


def load_nothing() -> Translator:
    raise InputError("no such folder", "name another", file="somewhere")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Small blocks, and workers that begin where their imports end."""
    server = types.SimpleNamespace(get_context=lambda _: SERVER)
    monkeypatch.setattr(workers, "multiprocessing", server)
    monkeypatch.setattr(workers, "AHEAD", 2)


def texts(outputs):
    return [[one.text for one in best] for best in outputs]


def translate(load, lines, n=1, workers=2):
    requests = (methodcaller("translate_block", one, n) for one in split_into_blocks(lines, 5))
    return report_warnings(run_in_workers(load, requests, workers), lambda _: None)


# random models lose the numbers of lines, and say so
lose_numbers = pytest.mark.filterwarnings("ignore:.*its translation lacks")


def no_worker_is_left():
    return multiprocessing.active_children() == []


@lose_numbers
def test_several_processes_give_the_text_of_one_in_order():
    expected = texts(random_translator().nbest_lines(MANY, n=2))
    assert texts(translate(load, number_lines(MANY, None), 2, workers=2)) == expected
    assert no_worker_is_left()


def test_no_process_starts_without_a_request_for_it(monkeypatch):
    started, start = list[int](), workers.start_workers

    def count_and_start(load, count):
        started.append(count)
        return start(load, count)

    monkeypatch.setattr(workers, "start_workers", count_and_start)
    assert texts(translate(load, number_lines(MANY[:7], None), workers=1_000))
    assert started == [2]  # blocks have five lines here


@lose_numbers
def test_prefixes_and_line_numbers_reach_the_workers():
    prefixes = ["who" if line else "" for line in MANY]
    found = texts(translate(load, number_lines(MANY, prefixes), 1, workers=2))
    assert found == texts(random_translator().nbest_lines(MANY, prefixes=prefixes))


def test_more_workers_than_lines_and_no_lines_at_all():
    assert texts(translate(load, [Line(1, "a dog")], 1, workers=3)) == [
        [random_translator()("a dog")]
    ]
    assert list(translate(load, [], 1, workers=2)) == []
    assert no_worker_is_left()


def test_an_error_in_a_worker_is_ours_after_all_that_came_before():
    lines = ["a dog"] * 10 + ["x" * 99] + ["a dog"] * 20
    outputs = translate(load_strict, number_lines(lines, None), 1, workers=2)
    assert texts(next(outputs) for _ in range(10)) == [[random_translator()("a dog")]] * 10
    with pytest.raises(InputError) as error:
        next(outputs)
    assert str(error.value).startswith("line 11: a sentence of 100 pieces, and this model takes")
    assert "\nhint: split the sentence" in str(error.value)
    assert no_worker_is_left()


def test_a_model_that_cannot_be_loaded_is_reported_once():
    with pytest.raises(InputError) as error:
        list(translate(load_nothing, number_lines(MANY, None), 1, workers=2))
    assert str(error.value) == "somewhere: no such folder\nhint: name another"
    assert no_worker_is_left()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_worker_that_is_lost_is_named_and_the_others_end(name):
    number = getattr(signal, name).value
    with pytest.raises(LostProcessError) as error:
        list(translate(partial(load_and_die, number), number_lines(MANY, None), 1, workers=2))
    first, hint = str(error.value).split("\nhint: ")
    assert first.startswith("worker ")
    assert first.endswith(f") was ended by {name}")
    assert hint == "the others were ended, too; with fewer workers each has more memory"
    assert error.value.exit_code == 7
    assert no_worker_is_left()


def test_a_caller_who_stops_listening_ends_the_workers():
    outputs = translate(load, number_lines(MANY, None), 1, workers=2)
    next(outputs)
    assert not no_worker_is_left()
    outputs.close()
    assert no_worker_is_left()


LAUNCHER = """
from tests.inference.test_worker_processes import MANY, load
from transduce.inference.lines import number_lines
from transduce.inference.workers import start_workers
import time
from operator import methodcaller
if __name__ == "__main__":
    with start_workers(load, 2) as staff:
        for one in staff:
            one.pipe.send(methodcaller("translate_block", list(number_lines(MANY, None)), 1))
            one.pipe.recv()
        print(*[one.process.pid for one in staff], flush=True)
        time.sleep(60)
"""


def test_workers_end_when_the_one_that_began_them_is_killed(tmp_path):
    """No switch of the system is needed: they hear that nobody is there."""
    script = tmp_path / "launcher.py"
    script.write_text(LAUNCHER, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) == 2
    process.kill()
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 30
    while any(is_alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in pids if is_alive(pid)] == []
