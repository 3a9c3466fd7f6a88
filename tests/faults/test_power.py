"""A power cut after any call of a training that saves: what was announced is there, and whole."""

import collections
import json
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.faults.calls import Call, recorded, without
from tests.faults.disk import Disk, put
from tests.journeys.kills import half_written

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.errors import FolderError
from transduce.view.curves.read_log import read_run_log

pytestmark = pytest.mark.slow
SEED = 1
STEPS = 5
TRAINING = f"""
import sys
from pathlib import Path
from tests.training.run import train_folder
from tests.training.tiny import training_of
training = training_of(
    steps={STEPS}, checkpoint_minutes=1e-9, snapshot_every=2, average_last=1
)
train_folder(Path(sys.argv[1]), training)
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Every call of a run of five updates that saves after each."""
    disk = tmp_path_factory.mktemp("power") / "disk"
    disk.mkdir()
    return recorded(disk, TRAINING, disk / "run")


@pytest.fixture
def memory():
    """To an imagined disk all file systems are the same, and here nothing waits for a real one."""
    place = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=place if place.is_dir() else None) as folder:
        yield Path(folder)


def announced(calls):
    """The last step that the journal calls saved."""
    lines = [call.data for call in calls if call.what == "write" and call.path.name == "log.jsonl"]
    events = [json.loads(line) for line in lines]
    return max((event["step"] for event in events if event["event"] == "checkpoint"), default=0)


def harm(run, step):
    """What is wrong with a run that a power cut left, of which this step was announced."""
    if not run.exists():
        return "lost" if step else ""
    if (run / "log.jsonl").exists():
        read_run_log(run)  # torn perhaps, but read
    if half_written(run):
        return "half-written"
    try:
        save, _ = load_newest_checkpoint(run)
    except FolderError:
        return "unusable"
    return "lost" if (save.step if save else 0) < step else ""


def moments(calls, from_step):
    """The prefixes of the calls, from the announcement of a step to the end."""
    first = next(n for n in range(len(calls) + 1) if announced(calls[:n]) >= from_step)
    return range(first, len(calls) + 1)


def cut_often(calls, memory, states, from_step):
    """So many power cuts after every call; how many were imagined, and where harm was done."""
    draws = random.Random(SEED)
    harms: collections.Counter[str] = collections.Counter()
    seen: dict[object, str] = {}
    for moment in moments(calls, from_step):
        disk, step = Disk(calls[:moment]), announced(calls[:moment])
        for _ in range(states):
            image = disk.cut(draws)
            if (image, step) not in seen:
                put(image, memory / "disk")
                seen[image, step] = harm(memory / "disk" / "run", step)
                shutil.rmtree(memory / "disk")
            if found := seen[image, step]:
                harms[found] += 1
    return states * len(moments(calls, from_step)), len(seen), harms


@pytest.mark.parametrize(
    ("states", "from_step"),
    [
        pytest.param(40, STEPS - 1, id="the last save"),
        pytest.param(1000, 0, marks=pytest.mark.soak, id="the whole run"),
    ],
)
def test_a_power_cut_after_any_call_takes_no_announced_checkpoint(
    calls, memory, states, from_step, record
):
    cuts, different, harms = cut_often(calls, memory, states, from_step)
    after = len(moments(calls, from_step))
    record(power_cuts=cuts, different=different, after_calls=after, harms=harms, seeds=[SEED])
    assert different > 100
    assert harms == {}


def is_file(call, calls):
    return any(other.what == "create" and other.path == call.path for other in calls)


def is_unfinished(call):
    return call.path.name.startswith(".tmp-")


def no_sync_of_files(calls):
    return without(calls, [c for c in calls if c.what == "sync" and is_file(c, calls)])


def no_sync_of_the_unfinished_folder(calls):
    folders = [c for c in calls if c.what == "sync" and not is_file(c, calls)]
    return without(calls, [c for c in folders if is_unfinished(c)])


def no_sync_of_the_folder_above(calls):
    folders = [c for c in calls if c.what == "sync" and not is_file(c, calls)]
    return without(calls, [c for c in folders if not is_unfinished(c)])


def no_sync_at_all(calls):
    return without(calls, [call for call in calls if call.what == "sync"])


def files_gone_before_the_name(calls):
    """A folder is renamed to be deleted, and the sync of its old name comes after its files."""
    told: list[Call] = []
    late: list[Call] = []
    for call, before in zip(calls, [None, *calls], strict=False):
        if before and before.what == "rename" and before.to.name.startswith(".trash-"):
            late = [call]
            continue
        if late and call.what != "remove":
            told, late = told + late, []
        told.append(call)
    return told + late


@pytest.mark.parametrize(
    "forgetful",
    [
        no_sync_of_files,
        no_sync_of_the_unfinished_folder,
        no_sync_of_the_folder_above,
        no_sync_at_all,
        files_gone_before_the_name,
    ],
    ids=lambda program: program.__name__.replace("_", " "),
)
def test_the_control_that_does_not_sync_is_caught(calls, memory, forgetful, record):
    sabotaged = forgetful(calls)
    assert sabotaged != calls
    cuts, different, harms = cut_often(sabotaged, memory, 12, STEPS - 1)
    record(power_cuts=cuts, different=different, harms=harms, seeds=[SEED])
    assert harms
