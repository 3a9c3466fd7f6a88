"""Ctrl-C and SIGTERM at many moments: a sentence, a hint, the right code, nothing half-written."""

import random
import signal
import time
from pathlib import Path

import pytest
from tests.journeys.commands import COLD, tiny

pytestmark = pytest.mark.slow
INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM
CODES = {INTERRUPT: 130, TERMINATE: 143, signal.SIGHUP: 129}
WORDS = {INTERRUPT: "interrupted", TERMINATE: "terminated", signal.SIGHUP: "terminated"}
BUSY = {
    "training__checkpoint_minutes": 0.0001,
    "training__snapshot_every": 1,
}  # it saves all the time


def signalled(process, number):
    """Send a signal; the exit code and what was said on standard error."""
    process.send_signal(number)
    stderr = process.communicate(timeout=120)[1].decode()
    assert "Traceback" not in stderr, stderr
    return process.returncode, stderr


def weights(workspace, run, step):
    folder = workspace.folder / run / "checkpoints" / f"step-{step:08d}"
    return [(folder / f"{name}.safetensors").read_bytes() for name in ("model", "moments")]


@pytest.mark.parametrize("number", CODES)
def test_training_stops_with_its_last_update_saved_and_resumes_to_the_same_end(workspace, number):
    workspace.good("train", *tiny(steps=240), "-o", "straight")
    command = ("train", *tiny(steps=240), "-o", "run")
    draws = random.Random(int(number))
    code, stops = None, 0
    while code != 0:
        with workspace.start(*command) as process:
            while process.poll() is None and b"step" not in (line := process.stderr.readline()):
                assert line
            time.sleep(draws.uniform(0.1, 0.5))
            code, stderr = signalled(process, number)
        if code:
            stops += 1
            assert code == CODES[number]
            assert "stopping: the update in progress is dropped, the last finished" in stderr
            assert " of 240, kept in run\nhint: the same command goes on from here\n" in stderr
    assert stops > 0
    assert weights(workspace, "run", 240) == weights(workspace, "straight", 240)


def wait_until_it_listens(process):
    """Until SIGTERM has a handler of ours: from then on a signal is answered in words."""
    status = Path(f"/proc/{process.pid}/status")
    caught = 1 << (TERMINATE - 1)
    while process.poll() is None:
        lines = status.read_text(encoding="ascii").splitlines()
        if int(next(line for line in lines if line.startswith("SigCgt")).split()[1], 16) & caught:
            return
        time.sleep(0.002)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4, 40))]
)
def test_a_signal_at_the_start_is_reported_and_nothing_is_half_written(workspace, number, seed):
    command = ("train", *tiny(steps=100_000), "-o", "run")
    with workspace.start(*command, python=COLD) as process:
        wait_until_it_listens(process)
        time.sleep(random.Random(seed).uniform(0, 2))
        code, stderr = signalled(process, number)
    assert code == CODES[number]
    assert "\nhint: the same command " in stderr
    assert list(workspace.folder.rglob(".*")) == []


@pytest.mark.parametrize("steps", [2, 4])  # the look that is left is the last one, or is not
def test_a_validation_is_left_at_once_and_repeated_later(workspace, steps):
    dev = ("--dev-source", "a.en", "--dev-target", "a.de")
    settings = {"training__validate_every": 2, "training__validate_lines": 200}
    command = (
        "train",
        *tiny(steps=steps, **settings),
        *dev,
        "--set",
        "search.extra_length=600",
        "-o",
        "run",
    )
    with workspace.start(*command) as process:
        log = workspace.folder / "run" / "log.jsonl"
        while not log.exists() or b'"step": 2' not in log.read_bytes():
            time.sleep(0.02)
        code, stderr = signalled(process, INTERRUPT)
    assert code == 130
    assert "dev at" not in stderr
    assert f"stopped at step 2 of {steps}, kept in run" in stderr


def test_a_second_signal_ends_it_at_once_and_the_last_checkpoint_is_intact(workspace):
    dev = ("--dev-source", "a.en", "--dev-target", "a.de")
    command = ("train", *tiny(steps=100_000, **BUSY), *dev, "-o", "run")
    with workspace.start(*command) as process:
        steps = (workspace.folder / "run" / "checkpoints").glob
        while not any(one.name >= "step-00000003" for one in steps("step-*")):
            time.sleep(0.02)
        process.send_signal(TERMINATE)
        code, stderr = signalled(process, TERMINATE)
    assert code == 143
    assert workspace.good("verify", "run").count("good") >= 4
    assert not any(name.startswith(".") for name in workspace.names("run/checkpoints"))
    # the second may come before the first is answered, or after the update was dropped
    assert "stopping: " in stderr or WORDS[TERMINATE] in stderr


@pytest.mark.parametrize("number", CODES)
def test_translating_is_ended_with_a_sentence_and_no_file(settled, number):
    before = settled.names()
    with settled.start("translate", "m", "-", "-o", "out") as process:
        while not any(name.endswith("-out") for name in settled.names()):
            time.sleep(0.02)
        process.stdin.write(b"a dog\n" * 9)
        process.stdin.flush()
        code, stderr = signalled(process, number)
    assert code == CODES[number]
    assert stderr.startswith(f"error: {WORDS[number]} before it was done\nhint: the same command")
    assert settled.names() == before


PREPARING = """
import itertools, sys
from transduce.runs import texts as inputs
read = inputs.FilePair.read
def endless(text):
    pairs = list(read(text))
    return (pairs[0] if n else print("reading", flush=True) or pairs[0] for n in itertools.count())
inputs.FilePair.read = endless
from transduce.cli.main import main
main()
"""


@pytest.mark.parametrize("number", CODES)
def test_preparing_is_ended_with_a_sentence_and_nothing_half_written(workspace, number):
    command = ("prepare", "tiny", "--source", "a.en", "--target", "a.de", "-o", "p")
    with workspace.start(*command, python=("-c", PREPARING)) as process:
        assert process.stdout.readline() == b"reading\n"
        assert process.stderr.readline() == b"languages: en to de\n"
        while not (workspace.folder / "p/prepared.json").exists():
            time.sleep(0.02)
        code, stderr = signalled(process, number)
    assert code == CODES[number]
    assert stderr.startswith(f"error: {WORDS[number]} before it was done\nhint: the same command")
    assert workspace.names("p") == {"lock", "prepared.json"}
    workspace.good(*command)
