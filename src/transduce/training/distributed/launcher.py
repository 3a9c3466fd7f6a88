"""The processes of a run on one machine: started, watched, and never left behind.

Each is this very command again, told by its environment which place it has. They meet in a file in
a new folder that only this user can enter, and speak over the loopback interface alone.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import final

from transduce.errors import LostProcessError
from transduce.training.distributed.rank import Place, environment_of

PAUSE = 0.05  # seconds between two looks at the processes
LAST_WORDS = 5.0  # seconds for a process that was lost to be seen to have ended
LOST = LostProcessError.exit_code
AGREED = (0, 5, 130, 143)  # ends of all
EXPLAINED = (*AGREED, 2, 3, 4, 6, 141)  # ends of the first, which has said why
AGAIN = "the same command goes on from the last save; a higher --lost-after waits longer"


@contextmanager
def crew(size: int) -> Iterator["Crew"]:
    """So many processes; none is there any more afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="transduce-"))
    loopback = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    speak = {"GLOO_SOCKET_IFNAME": loopback, "NCCL_SOCKET_IFNAME": loopback}
    started: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(size):
            place = Place(
                rank=rank,
                size=size,
                local_rank=rank,
                local_size=size,
                meeting=folder / "meeting",
                parent=os.getpid(),
            )
            started.append(
                subprocess.Popen(
                    [sys.executable, *sys.orig_argv[1:]],
                    env={**os.environ, **speak, **environment_of(place)},
                    start_new_session=True,  # Ctrl-C comes to us, and we pass it on
                )
            )
        yield Crew(started)
    finally:
        for process in started:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@final
class Crew:
    """Processes that belong together, the first of which keeps the run."""

    def __init__(self, processes: Sequence["subprocess.Popen[bytes]"]) -> None:
        self.processes = processes

    def pass_on(self, number: int) -> None:
        """A signal for all: the first hears it, and they agree."""
        self.processes[0].send_signal(number)

    def wait(self, seconds: float) -> int:
        """Wait for the end, which is the first one's; a process that is lost is named.

        Who has lost another ends by itself within so many seconds, or is ended then.
        """
        first, whole_at = self.processes[0], time.monotonic()
        while (code := first.poll()) is None:
            now = time.monotonic()
            whole_at = now if self.is_whole() else whole_at
            if now - whole_at > seconds + LAST_WORDS:
                break
            time.sleep(PAUSE)
        if code in EXPLAINED:
            return code
        raise LostProcessError(f"{self.fate()}, and the others have ended", AGAIN)

    def is_whole(self) -> bool:
        """Whether all are at work, or have ended because all did."""
        ends = [process.poll() for process in self.processes]
        return all(end in (None, *AGREED) for end in ends) and not any(
            is_stopped(process) for process in self.processes
        )

    def fate(self) -> str:
        """Which process was lost, and how; who only noticed it is not the one."""
        until = time.monotonic() + LAST_WORDS
        while time.monotonic() < until:
            for rank, process in enumerate(self.processes):
                if how := fate_of(process):
                    return f"process {rank} of {len(self.processes)} {how}"
            time.sleep(PAUSE)
        return "the processes of this run have lost each other"


def fate_of(process: "subprocess.Popen[bytes]") -> str:
    """How it was lost, if it was."""
    code = process.poll()
    if code is None:
        return "was stopped and did not answer any more" if is_stopped(process) else ""
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}" if code not in (0, LOST) else ""


def is_stopped(process: "subprocess.Popen[bytes]") -> bool:
    """Whether a signal has put it to sleep."""
    if process.poll() is not None or not hasattr(os, "waitid"):
        return False
    try:
        state = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # it has ended since it was asked
        return False
    return state is not None
