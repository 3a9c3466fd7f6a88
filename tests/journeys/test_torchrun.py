"""torchrun starts the processes of a run again after one was killed: the same bits come out."""

import os
import signal
import socket
import time

import pytest
from tests.cli.language import write_corpus
from tests.journeys.commands import tiny
from tests.journeys.conftest import Workspace
from tests.journeys.together import BUSY, MARKS, PARTS, children, wait_for_updates, weights

pytestmark = MARKS
STEPS = 60
TRAIN = ("train", *tiny(steps=STEPS, **PARTS, **BUSY), "--exact", "-o", "run")
TORCHRUN = ("-m", "torch.distributed.run", "--max-restarts", "2")
COMMAND = ("-m", "transduce", *TRAIN)
ONE_MACHINE = {
    "standalone": ("--standalone",),
    "c10d": ("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"),
    "static": ("--rdzv-backend", "static", "--master-port"),
}


@pytest.fixture(autouse=True)
def _on_loopback(monkeypatch):
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """What a run ends in that lost no process; with --exact their number changes nothing."""
    workspace = Workspace(write_corpus(tmp_path_factory.mktemp("straight")))
    workspace.good(*TRAIN)
    return weights(workspace, "run", STEPS)


def free_port():
    with socket.create_server(("localhost", 0)) as listener:
        return str(listener.getsockname()[1])


def end(process):
    """Wait for the end of torchrun; return its exit code and what was said."""
    stderr = process.communicate(timeout=300)[1].decode()
    return process.returncode, stderr


def wait_for_listener(port):
    """Wait until somebody listens at a port of this machine."""
    for _ in range(600):
        with socket.socket() as client:
            if client.connect_ex(("localhost", int(port))) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(port)


def count_resumes(workspace):
    return (workspace.folder / "run" / "log.jsonl").read_text("utf-8").count('"event": "resume"')


@pytest.mark.parametrize("how", ONE_MACHINE)
def test_processes_that_are_killed_twice_end_in_the_same_bits(workspace, straight, how):
    options = [*ONE_MACHINE[how], *([free_port()] if how == "static" else [])]
    python = (*TORCHRUN, *options, "--nproc-per-node", "2")
    with workspace.start(*COMMAND, python=python) as process:
        for rank in (1, 0):
            wait_for_updates(workspace, process)
            os.kill(children(process)[rank], signal.SIGKILL)
        code, stderr = end(process)
    assert code == 0, stderr
    assert count_resumes(workspace) == 2
    assert weights(workspace, "run", STEPS) == straight


@pytest.mark.parametrize("lost", ["a process", "a machine"])
def test_a_loss_under_one_or_two_machines_ends_in_the_same_bits(workspace, straight, lost):
    port = free_port()
    options = ("--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{port}")
    python = (*TORCHRUN, *options, "--rdzv-id", "job", "--nproc-per-node", "1")
    with workspace.start(*COMMAND, python=python) as first:
        wait_for_listener(port)  # the first machine keeps the rendezvous
        with workspace.start(*COMMAND, python=python) as second:
            wait_for_updates(workspace, first)
            (worker,) = children(second)
            if lost == "a machine":
                second.kill()
            os.kill(worker, signal.SIGKILL)
            ends = [end(first), *([end(second)] if lost == "a process" else [])]
    assert [code for code, _ in ends] == [0] * len(ends), ends
    assert count_resumes(workspace) == 1
    assert weights(workspace, "run", STEPS) == straight


def test_machines_that_come_and_go_end_in_the_same_bits(workspace, monkeypatch):
    # torch 2.13's torchrun waits in vain for one that joins while its agents share a store
    monkeypatch.setenv("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")
    steps, port = 500, free_port()
    workspace.good("train", *tiny(steps=steps, **PARTS), "--exact", "-o", "straight")
    train = ("train", *tiny(steps=steps, **PARTS, **BUSY), "--exact")
    options = ("--nnodes", "1:2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{port}")
    python = (*TORCHRUN, *options, "--rdzv-id", "job", "--nproc-per-node", "1")
    command = ("-m", "transduce", *train, "-o", "run")
    with workspace.start(*command, python=python) as first:
        wait_for_updates(workspace, first)
        with workspace.start(*command, python=python) as second:
            wait_for_resumes(workspace, first, 1)
            wait_for_updates(workspace, first)
            (worker,) = children(second)
            second.kill()
            os.kill(worker, signal.SIGKILL)
        wait_for_resumes(workspace, first, 2)
        with workspace.start(*command, python=python) as third:
            wait_for_resumes(workspace, first, 3)
            ends = [end(first), end(third)]
    assert [code for code, _ in ends] == [0, 0], ends
    assert count_resumes(workspace) == 3
    assert weights(workspace, "run", steps) == weights(workspace, "straight", steps)


def wait_for_resumes(workspace, process, count):
    """Wait until the processes of a run have been started again so often."""
    while count_resumes(workspace) < count:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
