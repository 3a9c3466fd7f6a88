"""Many start at once in one folder: one works, the others are told who does, a dead one is none."""

import collections
import contextlib
import mmap
import os
import random
import re
import signal
import time

import pytest
from tests.checkpoint.samples import write_checkpoints
from tests.journeys.kills import half_written

from transduce.checkpoint.checkpoints import load_newest_checkpoint, prune
from transduce.checkpoint.run_file import create_run
from transduce.checkpoint.steps import list_steps
from transduce.durable.lock import lock_folder
from transduce.errors import InUseError
from transduce.settings import Recipe

SEED = 5
WAITS, OWNS, REFUSED, NAMED, STUMBLED = range(5)  # what a process tells in its byte
OWNERS = 100  # from here on a byte a process, 1 if it ever had the folder
ENDS = ("well", "killed while it held", "killed in a save")
HOLDER = re.compile(r"process \d+ on \S+, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


@pytest.fixture
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("race") / "run"
    create_run(folder, Recipe(name="tiny"), {})
    return folder


def contend(run, page, number, locked_folder, end):
    """One of those who want the folder; the owner works until all others have been answered."""
    try:
        with locked_folder(run):
            page[number], page[OWNERS + number] = OWNS, 1
            until = time.monotonic() + 10
            while WAITS in page[: page[-1]] and time.monotonic() < until:
                time.sleep(0.0005)
            step = max([0, *list_steps(run / "checkpoints")]) + 1
            if end == "killed in a save":
                os.rename = die  # type: ignore[assignment]
            write_checkpoints(run, step)
            prune(run, 1, 1)
            if end == "killed while it held":
                die()
    except InUseError as error:
        page[number] = NAMED if HOLDER.search(error.fact) else REFUSED
    except BaseException:
        page[number] = STUMBLED
        raise


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def race(run, contenders, locked_folder, end):
    """How many had the folder, and what each came to."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    page[len(page) - 1] = contenders
    gate, opened = os.pipe()
    children = []
    for number in range(contenders):
        child = os.fork()
        if child == 0:
            try:
                os.close(opened)
                os.read(gate, 1)  # until the other end is closed
                contend(run, page, number, locked_folder, end)
            finally:
                os._exit(0)
        children.append(child)
    os.close(opened)
    for child in children:
        os.waitpid(child, 0)
    os.close(gate)
    return sum(page[OWNERS : OWNERS + contenders]), list(page[:contenders])


def races(run, times):
    """How many owners each race had, and how the owners and the others fared."""
    draws = random.Random(SEED)
    owners: collections.Counter[int] = collections.Counter()
    fared: collections.Counter[str] = collections.Counter()
    for _ in range(times):
        end = draws.choice(ENDS)
        had_it, told = race(run, draws.randint(2, 8), lock_folder, end)
        owners[had_it] += 1
        fared[f"owner ended {end}"] += 1
        fared["told who works"] += told.count(NAMED)
        fared["told before the owner had written its name"] += told.count(REFUSED)
        fared["stumbled"] += told.count(STUMBLED)
        assert half_written(run) == []
    return owners, fared


@pytest.mark.slow
@pytest.mark.parametrize("times", [50, pytest.param(2000, marks=pytest.mark.soak)])
def test_of_many_processes_one_works_and_a_dead_one_blocks_no_other(run, times, record):
    owners, fared = races(run, times)
    record(races=times, owners_in_a_race=owners, fared=fared, seeds=[SEED])
    assert owners == {1: times}
    assert fared["stumbled"] == 0
    assert fared["told who works"] > fared["told before the owner had written its name"]
    assert load_newest_checkpoint(run)[1] == []
    with lock_folder(run):
        pass
    assert list(run.rglob(".t*")) == [], "the next owner cleaned what the dead ones left"


@contextlib.contextmanager
def by_process_id(folder):
    """Control: a file that says who works, which is looked at and then written."""
    file = folder / "lock"
    if file.exists() and os.path.exists(f"/proc/{file.read_text()}"):  # noqa: PTH110
        raise InUseError("in use", "wait", file=folder)
    time.sleep(0.001)
    file.write_text(str(os.getpid()))
    yield
    file.unlink()


@pytest.mark.slow
def test_the_control_with_a_file_of_the_process_id_is_caught(run, record):
    owners: collections.Counter[int] = collections.Counter()
    for _ in range(20):
        owners[race(run, 4, by_process_id, ENDS[0])[0]] += 1
    record(races=20, owners_in_a_race=owners)
    assert owners[1] < 20


def test_an_owner_that_stands_still_is_still_the_owner(run, record):
    child = os.fork()
    if child == 0:
        with lock_folder(run):
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    try:
        with pytest.raises(InUseError, match=f"process {child} on "), lock_folder(run):
            pytest.fail("two hold one folder")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with lock_folder(run):
        record(owners_stopped=1)


@pytest.mark.slow
@pytest.mark.parametrize("reads", [200, pytest.param(10_000, marks=pytest.mark.soak)])
def test_a_reader_never_sees_half_of_what_is_deleted_meanwhile(run, reads, record):
    write_checkpoints(run, 1)
    child = os.fork()
    if child == 0:
        try:
            for step in range(2, 1_000_000):
                write_checkpoints(run, step)
                prune(run, 1, 1)
        finally:
            os._exit(1)
    try:
        steps: set[int] = set()
        done = 0
        while done < reads or len(steps) <= reads / 20:  # each disk has its own pace
            save, rejected = load_newest_checkpoint(run)
            assert save is not None
            assert rejected == []
            assert save.state["step"] == save.step >= max(steps, default=1)
            steps.add(save.step)
            done += 1
            assert os.waitpid(child, os.WNOHANG) == (0, 0), "the writer still writes"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    record(reads=done, different_saves=len(steps))
