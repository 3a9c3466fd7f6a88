"""Start and supervise the processes of a training on one machine.

Each process runs this same command, with its rank in the environment. The processes find each other
through a rendezvous file in a new folder that only this user can open, and communicate over the
loopback interface only.

The elastic launcher of torch cannot do this. When one process exits with a nonzero code, it ends
the others, even while rank 0 is saving a checkpoint after Ctrl-C. Its store listens on all
interfaces. It also neither forwards SIGUSR1 nor notices a process that is suspended.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import final

from transduce.durable.files import private_folder
from transduce.errors import LostProcessError
from transduce.training.distributed.rank import RESUME_HINT, ProcessRank

POLL_SECONDS = 0.05
FOLDER = "transduce-launcher-"  # how the name of a temporary folder begins
GRACE_SECONDS = 5.0  # how long to wait for the exit code of a lost process
LOST = LostProcessError.exit_code
# if one process exits with one of these codes, all processes do
SHARED_ENDS = (0, 5, 129, 130, 143, 152)
# exit codes of rank 0 to which the launcher adds no report of a lost process
EXPLAINED_ENDS = (*SHARED_ENDS, 2, 3, 4, 6, 8, 141)


@contextmanager
def launch_processes(count: int) -> Iterator["ProcessSupervisor"]:
    """Context manager: start a process per rank, yield their supervisor, kill them at the end."""
    started: list[subprocess.Popen[bytes]] = []
    with private_folder(FOLDER) as folder:
        try:
            for number in range(count):
                rank = ProcessRank(
                    rank=number,
                    world_size=count,
                    local_rank=number,
                    local_size=count,
                    rendezvous_file=folder / "rendezvous",
                    parent=os.getpid(),
                )
                started.append(start_process(rank))
            yield ProcessSupervisor(started)
        finally:
            for process in started:
                process.kill()
                process.wait()


def start_process(rank: ProcessRank) -> "subprocess.Popen[bytes]":
    """Run this command again as the process of a rank, which communicates on loopback only."""
    loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    interfaces = {"GLOO_SOCKET_IFNAME": loopback, "NCCL_SOCKET_IFNAME": loopback}
    return subprocess.Popen(
        [sys.executable, *sys.orig_argv[1:]],
        env={**os.environ, **interfaces, **rank.as_environment()},
        start_new_session=True,  # Ctrl-C reaches only the launcher, which forwards it
    )


@final
class ProcessSupervisor:
    """A supervisor of launched processes, which forwards signals and detects a lost process."""

    def __init__(self, processes: Sequence["subprocess.Popen[bytes]"]) -> None:
        self.processes = processes
        self.forwarded: set[int] = set()

    def forward_signal(self, number: int) -> None:
        """Send a signal to rank 0, which shares it with the other ranks."""
        if number != signal.SIGUSR1:  # SIGUSR1 requests a checkpoint and ends nothing
            self.forwarded.add(number)
        self.processes[0].send_signal(number)

    def wait(self, lost_after: float) -> int:
        """Wait for rank 0 and return its exit code; raise LostProcessError if a process was lost.

        The code is -N if a forwarded signal N killed rank 0 before it could handle signals.
        The other processes notice a loss and end within `lost_after` seconds, or are killed.
        """
        rank_0, healthy_at = self.processes[0], time.monotonic()
        while (code := rank_0.poll()) is None:
            now = time.monotonic()
            healthy_at = now if self.is_healthy() else healthy_at
            if now - healthy_at > lost_after + GRACE_SECONDS:
                break
            time.sleep(POLL_SECONDS)
        if code in EXPLAINED_ENDS or (code is not None and -code in self.forwarded):
            return code
        raise LostProcessError(f"{self.describe_loss()}, and the others have ended", RESUME_HINT)

    def is_healthy(self) -> bool:
        """Return whether every process is running and not suspended, or has ended normally."""
        codes = [process.poll() for process in self.processes]
        return all(code in (None, *SHARED_ENDS) for code in codes) and not any(
            is_stopped(process) for process in self.processes
        )

    def describe_loss(self) -> str:
        """Return in words which process was lost and how it ended."""
        until = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < until:
            for rank, process in enumerate(self.processes):
                if how := describe_end(process):
                    return f"process {rank} of {len(self.processes)} {how}"
            time.sleep(POLL_SECONDS)
        return "the processes of this run have lost each other"


def describe_end(process: "subprocess.Popen[bytes]") -> str:
    """Return in words how a process was killed, stopped or failed, or "" if nothing is wrong."""
    code = process.poll()
    if code is None:
        return "was stopped and did not answer any more" if is_stopped(process) else ""
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}" if code not in (0, LOST) else ""


def is_stopped(process: "subprocess.Popen[bytes]") -> bool:
    """Return whether a process is suspended, as by the signal SIGSTOP."""
    if process.poll() is not None or not hasattr(os, "waitid"):
        return False
    try:
        state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # the process has ended since poll()
        return False
    return state is not None
