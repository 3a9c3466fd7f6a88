"""SIGKILL at any moment: what was announced stays, and nothing half-written has a final name."""

import collections
import mmap
import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest
import torch

from transduce.checkpoint.checkpoints import (
    load_newest_checkpoint,
    prune,
    save_checkpoint,
    save_snapshot,
)
from transduce.checkpoint.steps import is_intact, list_steps, step_folder
from transduce.durable.lock import lock_folder

CALLS = ("mkdir", "open", "write", "fsync", "rename", "unlink", "rmdir")
CALL, ANNOUNCED = 0, 1  # bytes of the page that a killed child leaves behind
WAIT = 2  # set when the child has begun


@pytest.fixture
def run_in_memory(run):
    """To a kill all file systems are the same, and here nothing waits for a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as location:
        yield shutil.copytree(run, Path(location) / "run")


def weights(step):
    return {f"layer.{n}": torch.full((20, 20), float(step)) for n in range(3)}


def keep(run, step):
    save_checkpoint(run, step, weights(step), weights(step), {"step": step})


def straight(run, step):
    """The control: the same files, but straight under the final name."""
    aside = run.parent / "aside"
    shutil.copytree(run, aside, ignore=shutil.ignore_patterns("checkpoints", "snapshots"))
    keep(aside, step)
    folder = step_folder(run / "checkpoints", step)
    folder.mkdir(parents=True)
    for file in step_folder(aside / "checkpoints", step).iterdir():
        descriptor = os.open(folder / file.name, os.O_WRONLY | os.O_CREAT, 0o666)
        os.write(descriptor, file.read_bytes())
        os.fsync(descriptor)
        os.close(descriptor)
    shutil.rmtree(aside)


def train(run, keep, page, steps):
    """Save, announce, keep a snapshot, prune."""
    with lock_folder(run):
        for step in steps:
            keep(run, step)
            page[ANNOUNCED] = step
            save_snapshot(run, step, weights(step))
            prune(run, 3, 1)


def watch_calls(page, deadly, *, within):
    """Note each call that changes the disk; in the n-th, die: before, or within or after it."""
    count = 0

    def killing(location, name, call):
        def stand_in(*arguments, **others):
            nonlocal count
            if name == "open" and not arguments[1] & os.O_CREAT:
                return call(*arguments, **others)  # only reads
            count += 1
            page[CALL] = location + 1
            if count == deadly:
                if within and name == "write":
                    call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                elif within:
                    call(*arguments, **others)
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return call(*arguments, **others)
            finally:
                page[CALL] = 0

        return stand_in

    for location, name in enumerate(CALLS):
        setattr(os, name, killing(location, name, getattr(os, name)))


def trial(run, steps, *, keep=keep, deadly=0, within=False, seconds=0.0):
    """Where a child was when it was killed (or None), and the last step it announced."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    child = os.fork()
    if child == 0:
        try:
            watch_calls(page, deadly, within=within)
            page[WAIT] = 1
            train(run, keep, page, steps)
            os._exit(0)
        finally:
            os._exit(1)
    if seconds:
        while not page[WAIT]:
            time.sleep(0.001)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL), "the child stumbled over what an earlier kill left"
    location = ("between calls", *CALLS)[page[CALL]] if status else None
    return location, page[ANNOUNCED]


def half_written(run):
    """Final names under which not every byte is as it was written."""
    return [
        step_folder(run / location, step)
        for location in ("checkpoints", "snapshots")
        for step in list_steps(run / location)
        if not is_intact(run / location, step)
    ]


def kill_often(run, times, choose):
    """One run, killed and started again; tells where the kills landed."""
    landed: collections.Counter[str] = collections.Counter()
    announced = 0
    for number in range(times):
        first = max([announced, *list_steps(run / "checkpoints")]) + 1
        if first > 200:  # the page has a byte for it
            shutil.rmtree(run / "checkpoints")
            first, announced = 1, 0
        location, step = trial(run, range(first, first + 20), **choose())
        announced = max(step, announced)
        landed[location or "nothing, it had ended"] += 1
        assert half_written(run) == [], f"kill {number}, in {location}"
        found, rejected = load_newest_checkpoint(run)
        assert rejected == []
        assert (found.step if found else 0) >= announced, f"kill {number}, in {location}"
    return landed


def test_forty_kills_lose_nothing_and_leave_nothing(run_in_memory, record):
    run = run_in_memory
    chance = random.Random(1)

    def choose():
        return {"deadly": chance.randrange(1, 70), "within": chance.random() < 0.5}

    landed = kill_often(run, 40, choose)
    record(kills=40, landed_in=landed, seeds=[1])
    assert landed.keys() >= {"open", "write", "fsync", "rename", "unlink"}
    with lock_folder(run):
        pass
    assert list(run.rglob(".t*-*")) == []


@pytest.mark.slow
def test_two_hundred_kills_by_the_clock_lose_nothing(run, record):
    chance = random.Random(2)
    landed = kill_often(run, 200, lambda: {"seconds": chance.uniform(0.001, 0.06)})
    record(kills=200, landed_in=landed, seeds=[2])
    assert landed.keys() >= {"fsync", "unlink"}


@pytest.mark.soak
def test_ten_thousand_kills_lose_nothing(run_in_memory, record):
    chance = random.Random(3)
    landed = kill_often(
        run_in_memory,
        10_000,
        lambda: {"deadly": chance.randrange(1, 300), "within": chance.random() < 0.5},
    )
    record(kills=10_000, landed_in=landed, seeds=[3])
    assert min(landed[location] for location in ("write", "fsync", "rename", "unlink")) >= 500


@pytest.mark.parametrize("within", [False, True], ids=["before the call", "within or after it"])
def test_a_kill_in_every_single_call_loses_nothing(run_in_memory, within, record):
    run = run_in_memory
    trial(run, [1, 2])
    shutil.copytree(run, run.parent / "before")
    for deadly in range(1, 200):
        shutil.rmtree(run)
        shutil.copytree(run.parent / "before", run)
        location, announced = trial(run, [3], deadly=deadly, within=within)
        assert half_written(run) == [], f"killed in call {deadly}, {location}"
        found, rejected = load_newest_checkpoint(run)
        assert found is not None
        assert found.step >= max(2, announced)
        assert rejected == []
        if location is None:
            break
    record(kills=deadly - 1, places="one in every call of a save with its pruning")
    assert deadly > 25
    assert list_steps(run / "checkpoints") == [2, 3]


def test_the_control_that_writes_straight_to_the_final_name_is_caught(run_in_memory, record):
    run = run_in_memory
    caught = 0
    for deadly in range(20, 40):  # the calls from the first file under its final name on
        shutil.rmtree(run / "checkpoints", ignore_errors=True)
        shutil.rmtree(run.parent / "aside", ignore_errors=True)
        trial(run, [1], keep=straight, deadly=deadly)
        caught += bool(half_written(run))
    record(kills=20, half_written_after=caught)
    assert caught >= 5, "these tests would not see a half-written save"
