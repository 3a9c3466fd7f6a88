"""Several processes that train together, as a user starts and disturbs them."""

import os
import signal
import time
from pathlib import Path

import pytest
from tests.journeys.commands import COLD, tiny
from tests.journeys.together import (
    ENDLESS,
    MARKS,
    PARTS,
    TORCHRUN,
    TWO,
    children,
    ended,
    wait_for_updates,
    weights,
)
from tests.processes import is_alive

pytestmark = MARKS


def test_with_exact_every_number_of_processes_ends_in_the_same_bits(workspace):
    recipe = tiny(steps=4, **PARTS)
    workspace.good("train", *recipe, "-o", "one")
    for workers, python in ((2, COLD), (3, ())):
        command = ("train", *recipe, "--workers", workers, "--exact", "-o", f"by-{workers}")
        code, _, stderr = workspace.run(*command, python=python)
        assert code == 0, stderr
        assert weights(workspace, f"by-{workers}", 4) == weights(workspace, "one", 4)


def test_in_bfloat16_too_several_go_on_with_what_one_has_kept(workspace):
    def train(steps, *more):
        changes = PARTS | {"training__precision": "bfloat16"}
        workspace.good("train", *tiny(steps=steps, **changes), *more)

    train(4, "-o", "one")
    for steps in (2, 4):
        train(steps, "--workers", "2", "--exact", "-o", "two")
    assert weights(workspace, "two", 4) == weights(workspace, "one", 4)


ENDING = """
import atexit, os
from transduce.cli.main import main
atexit.register(lambda: print("taken apart by process", os.environ.get("RANK")))
main()
"""


def test_a_process_of_several_leaves_its_interpreter_whole_when_all_is_done(workspace):
    recipe = tiny(steps=2, **PARTS)
    python = ("-c", ENDING)
    code, stdout, stderr = workspace.run("train", *recipe, *TWO, "-o", "run", python=python)
    assert code == 0, stderr
    assert stdout == "taken apart by process None\n"


@pytest.mark.parametrize("whom", ["launcher", "worker"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_one_signal_stops_all_after_the_last_finished_update(workspace, whom, number, code):
    with workspace.start(*ENDLESS) as process:
        wait_for_updates(workspace, process)
        both = children(process)
        os.kill(process.pid if whom == "launcher" else both[1], number)
        found, stderr = ended(process)
    assert found == code
    assert " of 100,000, kept in run\n" in stderr
    assert "\nhint: the same command goes on from here\n" in stderr  # the other may speak between
    assert not any(map(is_alive, both))
    workspace.good("verify", "run")


def test_a_second_signal_ends_all_at_once(workspace):
    with workspace.start(*ENDLESS) as process:
        wait_for_updates(workspace, process)
        both = children(process)
        os.kill(both[1], signal.SIGSTOP)  # so that they cannot agree
        os.kill(process.pid, signal.SIGTERM)
        time.sleep(1)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        code, stderr = ended(process)
    assert code == 143
    assert "terminated before it was done" in stderr
    assert not any(map(is_alive, both))


@pytest.mark.parametrize("workers", [1, 2])
def test_sigusr1_writes_a_checkpoint_and_training_continues(workspace, workers):
    command = ("train", *tiny(steps=100_000, **PARTS), "--workers", workers, "-o", "run")
    with workspace.start(*command) as process:
        wait_for_updates(workspace, process)
        process.send_signal(signal.SIGUSR1)
        while not list(workspace.folder.glob("run/checkpoints/step-*")):
            assert process.poll() is None
            time.sleep(0.02)
        wait_for_updates(workspace, process)
        process.send_signal(signal.SIGTERM)
        code, stderr = ended(process)
    assert code == 143
    assert stderr.count("saving a checkpoint when the update in progress is finished") == 1
    assert len(list(workspace.folder.glob("run/checkpoints/step-*"))) == 2


def test_nothing_listens_beyond_this_machine(workspace):
    with workspace.start(*ENDLESS) as process:
        wait_for_updates(workspace, process)
        heard = [address for pid in children(process) for address in listening(pid)]
        process.send_signal(signal.SIGTERM)
        assert ended(process)[0] == 143
    assert heard, "control: they do listen"
    assert set(heard) == {"0100007F"}, "127.0.0.1, as the system writes it"


def listening(pid):
    """The addresses at which a process listens."""
    sockets = {
        link.readlink().name.removeprefix("socket:[").rstrip("]")
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if str(link.readlink()).startswith("socket:")
    }
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    ]
    state = "0A"  # that it listens
    return [row[1].split(":")[0] for row in lines if row[3] == state and row[9] in sockets]


def test_another_number_of_processes_is_said(workspace):
    recipe = tiny(steps=3, **PARTS)
    workspace.good("train", *recipe, "-o", "run")
    code, _, stderr = workspace.run("train", *tiny(steps=3, **PARTS), *TWO, "-o", "run")
    said = "this resume may differ in its last bits: gradients added in order → by 2 processes"
    assert code == 0
    assert said in stderr


def test_more_processes_than_micro_batches_are_warned_about(workspace):
    code, _, stderr = workspace.run("train", *tiny(steps=1), *TWO, "-o", "run")
    assert code == 0
    assert "warning: 1 of 2 processes have nothing to do: an update of 1,024 tokens is 1 " in stderr
    assert (
        "(training.micro_batch_tokens); begin a run with --set training.micro_batch_tokens=512\n"
        in stderr
    )


def test_torchrun_starts_the_same_processes(workspace, monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    recipe = tiny(steps=4, **PARTS)
    with workspace.start("train", *recipe, "--exact", "-o", "by-2", python=TORCHRUN) as process:
        assert process.wait(200) == 0
    workspace.good("train", *recipe, "-o", "one")
    assert weights(workspace, "by-2", 4) == weights(workspace, "one", 4)


def test_a_folder_in_use_is_reported_once_and_all_processes_end(workspace):
    with workspace.start(*ENDLESS) as first:
        wait_for_updates(workspace, first)
        code, _, stderr = workspace.run(*ENDLESS)
        first.send_signal(signal.SIGTERM)
        assert ended(first)[0] == 143
    assert code == 6, stderr
    assert stderr.count("error: ") == 1
    assert "another process works here" in stderr
