"""A disk that refuses: training goes on, the last good save stays, and a message says so."""

import collections
import shutil
import tempfile
from pathlib import Path

import pytest
import torch
from tests.faults.inject import CALLS, disturbed
from tests.journeys.kills import half_written
from tests.training.run import train_folder
from tests.training.tiny import training_of

from transduce.checkpoint.checkpoints import load_checkpoint, load_newest_checkpoint
from transduce.durable import folder
from transduce.errors import TransduceError

pytestmark = pytest.mark.slow
TRAINING = training_of(steps=6, checkpoint_minutes=1e-9, snapshot_every=100)  # a save every step
EVENTS = ("update", "checkpoint")
SOAK = pytest.mark.soak


@pytest.fixture(scope="module")
def started_run():
    """A run with good saves at 1 and 2, and the bits that it must end with."""
    torch.set_num_threads(1)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        bits = train_folder(Path(folder) / "straight", TRAINING)[1]
        train_folder(Path(folder) / "begun", TRAINING, stop_at=2)
        yield Path(folder), bits


def trial(started_run, fault=""):
    """Go on with the run while a call fails; what it came to and what it said, and the run."""
    folder, _ = started_run
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(folder / "begun", run)

    def act():
        said: list[str] = []
        try:
            outcome = train_folder(run, TRAINING, on_message=said.append)[1]
        except TransduceError as error:
            outcome = f"exit {error.exit_code}"
        return "\n".join([outcome, *said])

    return run, disturbed(act, folder, fault)


@pytest.fixture(scope="module")
def counts(started_run):
    """How often each call is made until the first update is told, and until a save is."""
    calls = trial(started_run)[1].calls
    ends = [next(n for n, line in enumerate(calls) if rf"event\": \"{e}" in line) for e in EVENTS]
    return [collections.Counter(line.split("(")[0] for line in calls[:end]) for end in ends]


def require_whole(run):
    """Nothing half-written has a final name, and the good saves are not lost."""
    assert half_written(run) == []
    save, _ = load_newest_checkpoint(run)
    assert save is not None
    assert save.step >= 2


ERRORS = [
    ("ENOSPC", "EIO"),
    pytest.param(("ENOSPC", "EIO", "EDQUOT", "EROFS"), marks=SOAK),
]


@pytest.mark.parametrize("errors", ERRORS, ids=" ".join)
@pytest.mark.parametrize("call", CALLS)
def test_training_continues_to_the_same_bits_if_one_call_of_a_checkpoint_fails(
    started_run, counts, call, errors, record
):
    loading, saving = counts[0][call], counts[1][call]
    said: collections.Counter[str] = collections.Counter()
    for number in range(loading + 1, saving + 1):
        for error in errors:
            run, found = trial(started_run, f"{call}:error={error}:when={number}")
            outcome, *messages = found.outcome.split("\n")
            assert len(found.hit) == 1
            assert outcome == started_run[1], (number, error, found.outcome)
            assert len(messages) <= 1
            said[messages[0].rsplit(": ")[-1] if messages else "nothing"] += 1
            require_whole(run)
            assert load_checkpoint(run, TRAINING.steps).step
    record(failed_calls=said.total(), calls=saving - loading, errors=errors, said=said)
    assert said.total() >= 2


@pytest.mark.parametrize("errors", ERRORS, ids=" ".join)
@pytest.mark.parametrize("call", CALLS)
def test_a_disk_that_refuses_for_good_ends_the_run_with_exit_code_4(
    started_run, counts, call, errors, record
):
    loading, saving = counts[0][call], counts[1][call]
    disks = 0
    for number in range(loading + 1, saving + 1, 1 if len(errors) > 2 else 4):
        for error in errors:
            run, found = trial(started_run, f"{call}:error={error}:when={number}+")
            outcome, *messages = found.outcome.split("\n")
            assert outcome == "exit 4", (number, error, found.outcome)
            assert (
                sum(" of step " in said and " could not be written: " in said for said in messages)
                >= 3
            )
            require_whole(run)
            assert train_folder(run, TRAINING)[1] == started_run[1], "it goes on when there is room"
            disks += 1
    record(disks=disks, errors=errors)


def test_a_disk_that_cannot_be_read_at_the_start_is_reported_and_loses_nothing(
    started_run, counts, record
):
    outcomes: collections.Counter[str] = collections.Counter()
    for number in range(1, counts[0]["openat"] + 1):
        run, found = trial(started_run, f"openat:error=EIO:when={number}")
        if str(run) not in found.hit[0]:
            continue  # a file of Python's
        outcome = found.outcome.split("\n")[0]
        outcomes["went on" if outcome == started_run[1] else outcome] += 1
        assert outcome in ("exit 3", "exit 4", started_run[1]), found.outcome
        require_whole(run)
        assert train_folder(run, TRAINING)[1] == started_run[1]
    record(failed_calls=outcomes.total(), outcomes=outcomes)


def write_directly(patch):
    """Every folder is written under its final name from the start, and left as it is."""
    patch.setattr(folder, "temporary_path", lambda path: path)
    patch.setattr(folder, "require_absent", lambda _: None)
    patch.setattr(folder, "publish_folder", lambda *_: None)
    patch.setattr(folder, "delete", lambda _: None)


def test_the_control_that_writes_checkpoints_under_the_final_name_is_caught(
    started_run, counts, monkeypatch, record
):
    caught = 0
    write_directly(monkeypatch)
    for number in range(counts[0]["write"] + 1, counts[1]["write"] + 1):
        run, _ = trial(started_run, f"write:error=ENOSPC:when={number}+")
        caught += bool(half_written(run))
    record(failed_calls=counts[1]["write"] - counts[0]["write"], half_written_after=caught)
    assert caught >= 3
