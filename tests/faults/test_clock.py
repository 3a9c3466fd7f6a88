"""A wall clock that jumps while a run trains: order, saves and bits do not depend on it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.checkpoint.samples import folder, write_checkpoints

from transduce.checkpoint import checkpoints
from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.checkpoint.run_file import create_run
from transduce.checkpoint.steps import list_steps
from transduce.settings import Recipe

ROOT = Path(__file__).parents[2]
WAYS = {
    "back an hour": 1,
    "ahead 13 years": 2,
    "frozen": 3,
    "an hour back at every look": 4,
    "a year back and forth": 5,
    "before 1970": 6,
}
STEPS = 6
RUNS = f"""
import ctypes, json, sys, time
from pathlib import Path
from types import SimpleNamespace
from tests.training.run import train_folder
from tests.training.tiny import training_of
from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.durable.lock import lock_folder
from transduce.training import loop
from tests.training.events import read_journal

set_clock = ctypes.CDLL(None).set_clock
training = training_of(steps={STEPS}, checkpoint_minutes=1e-6)  # a time that a clock can tell
if sys.argv[2] == "by the wall":
    loop.time = SimpleNamespace(monotonic=time.time)
for way in [0, *map(int, sys.argv[3:])]:
    set_clock(way)
    run = Path(sys.argv[1]) / str(way)
    with lock_folder(run):
        before = time.time()
        train_folder(run, training, stop_at=4)
        bits = train_folder(run, training)[1]
    events = read_journal(run / "log.jsonl")
    print(json.dumps({{
        "bits": bits,
        "newest": load_newest_checkpoint(run)[0].step,
        "saves": [event["step"] for event in events if event["event"] == "checkpoint"],
        "went on by": time.time() - before,
        "holder": (run / "lock").read_text(),
    }}))
"""


@pytest.fixture(scope="module")
def jumping(tmp_path_factory):
    """A library that stands before the C library's clock."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler is here, or a clock cannot be put before the system's")
    library = tmp_path_factory.mktemp("clock") / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"], check=True)
    return library


def trained(jumping, folder, ways, loop="as it is"):
    """What runs came to, the first by a clock that is right."""
    done = subprocess.run(
        [sys.executable, "-c", RUNS, str(folder), loop, *map(str, ways)],
        cwd=ROOT,
        env=os.environ | {"LD_PRELOAD": str(jumping), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def changes(straight, found):
    """What a jump of the clock changed."""
    return [name for name in ("bits", "newest", "saves") if found[name] != straight[name]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "ways",
    [
        pytest.param(WAYS, id="each way"),
        pytest.param(
            {f"seed {seed}": seed for seed in range(10, 70)},
            marks=pytest.mark.soak,
            id="random jumps",
        ),
    ],
)
def test_a_clock_that_jumps_changes_no_bit_and_no_checkpoint(jumping, tmp_path, ways, record):
    straight, *others = trained(jumping, tmp_path, ways.values())
    assert straight["saves"] == list(range(1, STEPS + 1))
    assert straight["newest"] == STEPS
    assert [changes(straight, found) for found in others] == [[]] * len(ways)
    seconds = dict(zip(ways, (round(found["went on by"]) for found in others), strict=True))
    record(clocks=len(ways), runs_took_by_that_clock=seconds if len(ways) < 9 else "at random")
    assert sum(abs(took) > 1000 for took in seconds.values()) >= 2, "they do jump"


@pytest.mark.slow
def test_the_control_that_times_its_checkpoints_by_the_wall_is_caught(jumping, tmp_path, record):
    straight, frozen = trained(jumping, tmp_path, [WAYS["frozen"]], loop="by the wall")
    record(saves_by_a_right_clock=len(straight["saves"]), by_a_frozen_one=len(frozen["saves"]))
    assert changes(straight, frozen) == ["saves"]


def put_back_the_clock(run):
    """Three saves, each written an hour before the one before it."""
    create_run(run, Recipe(name="tiny"), {})
    write_checkpoints(run, 1, 2, 3)
    for step in (1, 2, 3):
        os.utime(folder(run, step), times=(10_000 - 3600 * step,) * 2)


def test_the_newest_checkpoint_is_the_highest_step_whatever_its_time(tmp_path, record):
    put_back_the_clock(tmp_path / "run")
    found = load_newest_checkpoint(tmp_path / "run")[0]
    assert found is not None
    assert found.step == 3
    record(newest=found.step)


def test_the_control_that_takes_the_newest_by_its_time_is_caught(tmp_path, monkeypatch, record):
    def by_time(parent):
        return sorted(list_steps(parent), key=lambda s: (parent / f"step-{s:08d}").stat().st_mtime)

    put_back_the_clock(tmp_path / "run")
    monkeypatch.setattr(checkpoints, "list_steps", by_time)
    found = load_newest_checkpoint(tmp_path / "run")[0]
    assert found is not None
    record(newest=found.step)
    assert found.step != 3
