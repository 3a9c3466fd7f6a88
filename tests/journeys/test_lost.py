"""Processes of several that are killed, stopped, fail or are cut off; and their launcher."""

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.cli.language import write_corpus
from tests.journeys.conftest import Workspace
from tests.journeys.together import (
    BY_TWO,
    ENDLESS,
    MARKS,
    TORCHRUN,
    TWO,
    children,
    ended,
    wait_for_updates,
    weights,
)
from tests.processes import is_alive

from transduce.cli import signals as own_process
from transduce.paper import training as step

pytestmark = MARKS


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """What a run of two processes ends in that lost none."""
    workspace = Workspace(write_corpus(tmp_path_factory.mktemp("straight")))
    workspace.good(*BY_TWO)
    return weights(workspace, "run")


@pytest.mark.parametrize("lost", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_lost_process_is_named_and_the_same_bits_come_out(workspace, straight, lost, rank):
    with workspace.start(*BY_TWO, "--lost-after", "5") as process:
        wait_for_updates(workspace, process)
        both = children(process)
        os.kill(both[rank], lost)
        code, stderr = ended(process)
    how = "killed by SIGKILL" if lost == signal.SIGKILL else "stopped and did not answer any more"
    assert f"error: process {rank} of 2 was {how}, and the others have ended\nhint: " in stderr
    assert code == 7
    assert not any(map(is_alive, both))
    workspace.good(*BY_TWO)
    assert weights(workspace, "run") == straight


def let_the_second_fail():
    """Before a command begins: process 1 of those that it starts finds a fault."""
    batch_loss = step.batch_loss

    def fail(*given):
        if os.environ["RANK"] == "1":
            raise ZeroDivisionError("on purpose")
        return batch_loss(*given)

    step.batch_loss = fail


def test_a_process_that_fails_shows_its_fault_and_is_named(workspace):
    with workspace.start(*ENDLESS, preexec_fn=let_the_second_fail) as process:
        stderr = process.communicate(timeout=200)[1].decode()
    assert process.returncode == 7
    assert "ZeroDivisionError: on purpose" in stderr
    assert "error: process 1 of 2 ended with exit code 1, and the others have ended" in stderr


def outlived(workspace, **how):
    """Whether processes still train after the one that started them was killed."""
    with workspace.start(*ENDLESS, **how) as process:
        wait_for_updates(workspace, process)
        both = children(process)
        process.kill()
        until = time.monotonic() + 5
        while (alive := [pid for pid in both if is_alive(pid)]) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
    return alive != []


def test_a_launcher_that_is_killed_leaves_nobody(workspace):
    assert not outlived(workspace)


def let_them_live():
    """Before a command begins: its processes do not ask how their launcher is."""
    own_process.die_with_parent = lambda parent: None  # noqa: ARG005


def test_the_control_that_outlives_its_launcher_is_caught(workspace, record):
    assert outlived(workspace, preexec_fn=let_them_live)
    record(left_behind="still training after five seconds")


def test_a_process_lost_by_torchrun_is_named_and_ends_the_others(workspace, monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    endless = [word for word in ENDLESS if word not in TWO[:2]]
    with workspace.start(*endless, python=TORCHRUN) as process:
        wait_for_updates(workspace, process)
        both = children(process)
        os.kill(both[1], signal.SIGKILL)
        stderr = process.communicate(timeout=200)[1].decode()
    assert process.returncode
    assert "error: lost contact with another process of this run (" in stderr
    assert f"exitcode  : -9 (pid: {both[1]})" in stderr, "torchrun names it"
    assert not any(map(is_alive, both))


CUT_OFF = """
ip link set lo up
"$@" &
until grep -qs '"step": 2' run/log.jsonl; do sleep 0.1; done
ip link set lo down
wait $!
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a network of its own")
def test_processes_that_are_cut_off_end_after_the_limit(workspace):
    command = [sys.executable, "-m", "transduce", *ENDLESS, "--lost-after", "3"]
    cut = ["unshare", "--net", "bash", "-c", CUT_OFF, "bash", *map(str, command)]
    with subprocess.Popen(cut, cwd=workspace.folder, stderr=subprocess.PIPE, text=True) as process:
        _, stderr = process.communicate(timeout=200)
    if "unshare failed" in stderr:
        pytest.skip("this system lets nobody make a network")
    assert process.returncode == 7
    assert "error: the processes of this run have lost each other, and the others have" in stderr
    workspace.good("verify", "run")
