"""The launcher: a lost process is named, and no process outlives it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.processes import is_alive

from transduce.training.distributed.launcher import is_stopped

pytestmark = [
    pytest.mark.workers,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: prctl and /proc"),
]

PROGRAM = """
import os, signal, sys, time
from transduce.cli.signals import die_with_parent
from transduce.errors import LostProcessError
from transduce.training.distributed.launcher import launch_processes
from transduce.training.distributed.rank import ProcessRank

rank = ProcessRank.from_environment(os.environ)
if rank.is_single_process:
    try:
        with launch_processes(2) as processes:
            print(*(one.pid for one in processes.processes), flush=True)
            sys.exit(processes.wait(2))
    except LostProcessError as fault:
        print(fault.fact)
        sys.exit(7)
die_with_parent(rank.parent)
first, second = sys.argv[1:3]
exec(first if rank.rank == 0 else second)
"""
NOTICES = "import time; time.sleep(1); sys.exit(7)"  # as who loses contact with another


def start_launcher(first, second):
    """Start a launcher of two ranks, which run these programs."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, first, second],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_launcher(first, second):
    """Return the launcher's exit code and output; none of its processes may be left."""
    with start_launcher(first, second) as launcher:
        pids = launcher.stdout.readline().split()
        output = launcher.stdout.read().strip()
        launcher.wait()
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    return launcher.returncode, output


KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
STOPPED = "os.kill(os.getpid(), signal.SIGSTOP)"


@pytest.mark.parametrize(
    ("first", "second", "loss"),
    [
        (NOTICES, KILLED, "process 1 of 2 was killed by SIGKILL"),
        (NOTICES, STOPPED, "process 1 of 2 was stopped and did not answer any more"),
        (NOTICES, "1 / 0", "process 1 of 2 ended with exit code 1"),
        (NOTICES, NOTICES, "the processes of this run have lost each other"),
        (KILLED, NOTICES, "process 0 of 2 was killed by SIGKILL"),
        (STOPPED, NOTICES, "process 0 of 2 was stopped and did not answer any more"),
        (STOPPED, "sys.exit(0)", "process 0 of 2 was stopped and did not answer any more"),
        ("1 / 0", NOTICES, "process 0 of 2 ended with exit code 1"),
        ("time.sleep(99)", KILLED, "process 1 of 2 was killed by SIGKILL"),
    ],
)
def test_a_process_that_is_lost_is_named(first, second, loss):
    assert run_launcher(first, second) == (7, f"{loss}, and the others have ended")


@pytest.mark.parametrize("code", [0, 2, 5, 8, 129, 143])
def test_an_end_that_rank_0_has_explained_is_the_exit_code(code):
    assert run_launcher(f"sys.exit({code})", "time.sleep(0.1); sys.exit(7)") == (code, "")


def test_a_launcher_that_is_killed_leaves_no_process():
    with start_launcher("time.sleep(99)", "time.sleep(99)") as launcher:
        pids = launcher.stdout.readline().split()
        wait_until_asleep(pids)
        launcher.kill()
    until = time.monotonic() + 5
    while left := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def test_control_without_dying_with_their_parent_processes_stay():
    program = PROGRAM.replace("die_with_parent(rank.parent)", "")
    with subprocess.Popen(
        [sys.executable, "-c", program, "time.sleep(99)", "time.sleep(99)"], stdout=subprocess.PIPE
    ) as launcher:
        assert launcher.stdout is not None
        pids = launcher.stdout.readline().decode().split()
        time.sleep(0.5)
        launcher.kill()
    time.sleep(0.5)
    left = [pid for pid in pids if is_alive(pid)]
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    assert left == pids


def wait_until_asleep(pids):
    """Wait until all sleep, for then they have asked the system to die with their parent."""
    until = time.monotonic() + 60
    while any("nanosleep" not in waiting_call(pid) for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.05)


def waiting_call(pid):
    """Return the system call that a process waits in."""
    return Path(f"/proc/{pid}/wchan").read_text(encoding="ascii")


def test_the_rendezvous_file_is_in_a_folder_of_this_user_only():
    with start_launcher("time.sleep(99)", "time.sleep(99)") as launcher:
        pids = launcher.stdout.readline().split()
        environment = Path(f"/proc/{pids[0]}/environ").read_bytes().decode().split("\0")
        (rendezvous,) = (Path(one.split("=")[1]) for one in environment if "RENDEZVOUS" in one)
        assert rendezvous.parent.stat().st_mode & 0o777 == 0o700
        assert "GLOO_SOCKET_IFNAME=lo" in environment
        os.kill(int(pids[0]), signal.SIGKILL)
        launcher.wait()
    assert not rendezvous.parent.exists()


def test_a_process_that_ends_during_the_check_is_not_stopped(monkeypatch):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with monkeypatch.context() as before:
            before.setattr(process, "poll", lambda: None)  # as it was a moment ago
            assert not is_stopped(process)
