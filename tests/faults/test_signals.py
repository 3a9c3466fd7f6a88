"""Signals at every moment of a training: the last finished update is kept, and no bit changes."""

import contextlib
import os
import random
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest
import torch
from tests.faults.inject import forked, outcome_of
from tests.journeys.kills import half_written
from tests.training.run import train_folder
from tests.training.tiny import batches, training_of

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.cli.outcome import Terminated
from transduce.cli.signals import signals_as_requests
from transduce.training.distributed.process_group import SingleProcess
from transduce.training.distributed.rank import SignalRequests
from transduce.training.journal import Journal
from transduce.training.progress import ValidationResult

pytestmark = pytest.mark.slow
STEPS, AT, SEED = 8, 4, 11
SELDOM = training_of(steps=STEPS, validate_every=AT, snapshot_every=2, average_last=1)
OFTEN = training_of(
    steps=STEPS, validate_every=AT, snapshot_every=2, average_last=1, checkpoint_minutes=1e-9
)
ASKS = {
    "SIGTERM": [signal.SIGTERM],
    "SIGINT": [signal.SIGINT],
    "SIGTERM twice": [signal.SIGTERM, signal.SIGTERM],
    "SIGINT twice": [signal.SIGINT, signal.SIGINT],
    "SIGUSR1": [signal.SIGUSR1],
}
CALLS = ("mkdir", "write", "fsync", "rename", "unlink")
MOMENTS = ("loading", "an update", "a validation", "the journal", *CALLS)


@pytest.fixture(scope="module")
def straight():
    """The bits of a run that nothing disturbed, and where runs may lie."""
    torch.set_num_threads(1)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield (
            Path(folder),
            train_folder(Path(folder) / "straight", SELDOM, validate=validate_at_once)[1],
        )


def validate_at_once(_model):
    return ValidationResult(nats=2.0)


def training(folder, settings, requests, steps, act=lambda _moment: None):
    """Train as the command line does; `act` is called with each moment that is come to."""

    def at(moment, step):
        if step == AT:
            act(moment)

    def validate(_model):
        act("a validation")
        return None if requests.stop_signal else ValidationResult(nats=2.0)

    def batches_of(step):
        at("an update", step - 1)
        return batches(step)

    act("loading")
    group = SingleProcess(requests)
    return train_folder(
        folder, settings, batches=batches_of, validate=validate, group=group, steps=steps
    )


def watch(steps, act):
    """Have calls of the system tell where they are, once the update AT is over."""

    def intercept(owner, name, moment):
        call = getattr(owner, name)

        def stand_in(*given, **named):
            if steps and steps[-1] >= AT:
                act(moment)
            return call(*given, **named)

        setattr(owner, name, stand_in)

    for name in CALLS:
        intercept(os, name, name)
    intercept(Journal, "write", "the journal")


def signalled(folder, settings, numbers, moment, listening=signals_as_requests):
    """Train in a child that sends itself signals at a moment: how it ended, and at which step."""
    sent: list[str] = []
    steps: list[int] = []

    def send(here):
        if here == moment and not sent:
            sent.append(here)
            for number in numbers:
                signal.raise_signal(number)

    def act():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with listening(lambda _: None) as requests:
                watch(steps, send)
                bits = training(folder, settings, requests, steps, send)[1]
            ended = "stopped" if requests.stop_signal else bits
        except (Terminated, KeyboardInterrupt) as end:
            ended = type(end).__name__
        return f"{ended} {steps[-1] if steps else 0} {len(sent)}"

    with forked(act) as (_, page):
        pass
    ended, step, hits = outcome_of(page).split()[-3:]
    assert hits == "1", outcome_of(page)
    return ended, int(step)


def require_kept(folder, ended, step, asks, straight):
    """Stopped: the last finished update is saved. Ended at once: what was saved is whole."""
    assert half_written(folder) == []
    save, rejected = load_newest_checkpoint(folder)
    assert rejected == []
    kept = save.step if save else 0
    if asks == "SIGUSR1":
        assert (ended, kept) == (straight, STEPS)
    elif asks.endswith("twice"):
        assert ended in ("Terminated", "KeyboardInterrupt")
        assert kept <= step
    else:
        assert (ended, kept) == ("stopped", step)
    return kept


@pytest.mark.parametrize("asks", ASKS)
def test_a_signal_at_any_call_keeps_the_last_finished_update(straight, asks, record):
    moment, bits = straight
    kept = {}
    for settings, here in [
        *((SELDOM, here) for here in ("loading", "an update", "a validation")),
        *((OFTEN, here) for here in MOMENTS),
    ]:
        folder = moment / "run"
        ended, step = signalled(folder, settings, ASKS[asks], here)
        often = "often" if settings is OFTEN else "seldom"
        kept[f"{here}, saving {often}"] = require_kept(folder, ended, step, asks, bits)
        assert train_folder(folder, settings, validate=validate_at_once)[1] == bits, here
        shutil.rmtree(folder)
    record(signals=len(kept), kept_step=kept)


def test_sigusr1_keeps_the_update_that_it_came_in(straight, record):
    folder = straight[0] / "batches_of"
    signalled(folder, SELDOM, ASKS["SIGUSR1"], "an update")
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    saves = [line for line in lines if '"checkpoint"' in line]
    record(saves=len(saves))
    assert [f'"step": {step},' in line for step, line in zip((AT + 1, STEPS), saves, strict=True)]
    assert len(saves) == 2


@pytest.mark.parametrize("times", [20, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_signal_by_the_clock_keeps_the_last_finished_update(straight, times, record):
    moment, bits = straight
    draws = random.Random(SEED)
    stopped, finished = 0, 0
    for _ in range(times):
        folder, number = moment / "run", draws.choice([signal.SIGTERM, signal.SIGINT])
        received, tell = os.pipe()

        def act(folder=folder, tell=tell):
            steps: list[int] = []
            with signals_as_requests(lambda _: None) as requests:
                os.write(tell, b"1")
                training(folder, SELDOM, requests, steps)
            return f"{steps[-1] if steps else 0}"

        with forked(act) as (child, page):
            seconds = draws.uniform(0, 0.1)
            process = os.pidfd_open(child)  # a number could be another's by then
            sender = threading.Thread(target=pass_on, args=(received, process, number, seconds))
            sender.start()
        sender.join()
        os.close(process)
        os.close(received)
        os.close(tell)
        step, (save, _) = int(outcome_of(page)), load_newest_checkpoint(folder)
        assert (save.step if save else 0) == step
        stopped, finished = stopped + (step < STEPS), finished + (step == STEPS)
        assert train_folder(folder, SELDOM, validate=validate_at_once)[1] == bits
        shutil.rmtree(folder)
    record(signals=times, stopped=stopped, had_finished=finished, seeds=[SEED])
    assert stopped > times / 4


def pass_on(received, process, number, seconds):
    """Wait until a child listens, then some time, then signal it, if it is still there."""
    os.read(received, 1)
    time.sleep(seconds)
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, number)


class AtOnce:
    """Control: what Python does by itself, which is to stop in the middle of things."""

    def __init__(self, _report):
        self.requests = SignalRequests()

    def __enter__(self):
        return self.requests

    def __exit__(self, *_):
        return None


def test_the_control_that_stops_in_the_middle_of_things_is_caught(straight, record):
    folder = straight[0] / "run"
    ended, step = signalled(folder, SELDOM, [signal.SIGINT], "an update", listening=AtOnce)
    save, _ = load_newest_checkpoint(folder)
    record(finished_updates=step, kept=save.step if save else 0)
    assert (ended, save) == ("KeyboardInterrupt", None)
    assert step == AT
    shutil.rmtree(folder)
