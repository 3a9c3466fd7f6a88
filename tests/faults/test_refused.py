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

from transduce.checkpoint import load_newest_checkpoint
from transduce.checkpoint.resume import load_checkpoint
from transduce.durable import folder
from transduce.errors import TransduceError

pytestmark = pytest.mark.slow
TRAINING = training_of(steps=6, checkpoint_minutes=1e-9, snapshot_every=100)  # a save every step
EVENTS = ("update", "checkpoint")
SOAK = pytest.mark.soak


@pytest.fixture(scope="module")
def begun():
    """A run with good saves at 1 and 2, and the bits that it must end with."""
    torch.set_num_threads(1)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        bits = train_folder(Path(place) / "straight", TRAINING)[1]
        train_folder(Path(place) / "begun", TRAINING, stop_at=2)
        yield Path(place), bits


def trial(begun, fault=""):
    """Go on with the run while a call fails; what it came to and what it said, and the run."""
    place, _ = begun
    run = place / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(place / "begun", run)

    def act():
        said: list[str] = []
        try:
            outcome = train_folder(run, TRAINING, on_message=said.append)[1]
        except TransduceError as error:
            outcome = f"exit {error.exit_code}"
        return "\n".join([outcome, *said])

    return run, disturbed(act, place, fault)


@pytest.fixture(scope="module")
def counts(begun):
    """How often each call is made until the first update is told, and until a save is."""
    calls = trial(begun)[1].calls
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
def test_one_call_of_a_save_fails_and_training_goes_on_to_the_same_bits(
    begun, counts, call, errors, record
):
    loading, saving = counts[0][call], counts[1][call]
    said: collections.Counter[str] = collections.Counter()
    for number in range(loading + 1, saving + 1):
        for error in errors:
            run, found = trial(begun, f"{call}:error={error}:when={number}")
            outcome, *messages = found.outcome.split("\n")
            assert len(found.hit) == 1
            assert outcome == begun[1], (number, error, found.outcome)
            assert len(messages) <= 1
            said[messages[0].rsplit(": ")[-1] if messages else "nothing"] += 1
            require_whole(run)
            assert load_checkpoint(run, TRAINING.steps).step
    record(failed_calls=said.total(), calls=saving - loading, errors=errors, said=said)
    assert said.total() >= 2


@pytest.mark.parametrize("errors", ERRORS, ids=" ".join)
@pytest.mark.parametrize("call", CALLS)
def test_a_disk_that_refuses_for_good_ends_the_run_with_exit_code_4(
    begun, counts, call, errors, record
):
    loading, saving = counts[0][call], counts[1][call]
    disks = 0
    for number in range(loading + 1, saving + 1, 1 if len(errors) > 2 else 4):
        for error in errors:
            run, found = trial(begun, f"{call}:error={error}:when={number}+")
            outcome, *messages = found.outcome.split("\n")
            assert outcome == "exit 4", (number, error, found.outcome)
            assert (
                sum(" of step " in said and " could not be written: " in said for said in messages)
                >= 3
            )
            require_whole(run)
            assert train_folder(run, TRAINING)[1] == begun[1], "it goes on when there is room"
            disks += 1
    record(disks=disks, errors=errors)


def test_a_disk_that_cannot_be_read_at_the_start_is_told_and_loses_nothing(begun, counts, record):
    outcomes: collections.Counter[str] = collections.Counter()
    for number in range(1, counts[0]["openat"] + 1):
        run, found = trial(begun, f"openat:error=EIO:when={number}")
        if str(run) not in found.hit[0]:
            continue  # a file of Python's
        outcome = found.outcome.split("\n")[0]
        outcomes["went on" if outcome == begun[1] else outcome] += 1
        assert outcome in ("exit 3", "exit 4", begun[1]), found.outcome
        require_whole(run)
        assert train_folder(run, TRAINING)[1] == begun[1]
    record(failed_calls=outcomes.total(), outcomes=outcomes)


def in_place(patch):
    """Every folder is written under its final name from the start, and left as it is."""
    patch.setattr(folder, "temporary_path", lambda path: path)
    patch.setattr(folder, "require_absent", lambda _: None)
    patch.setattr(folder, "publish_folder", lambda *_: None)
    patch.setattr(folder, "delete", lambda _: None)


def test_the_control_that_saves_straight_to_the_final_name_is_caught(
    begun, counts, monkeypatch, record
):
    caught = 0
    in_place(monkeypatch)
    for number in range(counts[0]["write"] + 1, counts[1]["write"] + 1):
        run, _ = trial(begun, f"write:error=ENOSPC:when={number}+")
        caught += bool(half_written(run))
    record(failed_calls=counts[1]["write"] - counts[0]["write"], half_written_after=caught)
    assert caught >= 3
