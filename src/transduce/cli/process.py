"""Switches of the whole process: set here, at the start of a command, and nowhere else."""

import ctypes
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from transduce.cli.outcome import Terminated
from transduce.training.workers.requests import Requests

NO_MMAP, TRIM = -4, -1  # glibc's M_MMAP_MAX and M_TRIM_THRESHOLD
NEVER = 2**31 - 1
SIGNAL_AT_DEATH = 1  # Linux' PR_SET_PDEATHSIG
STOPPING = "stopping: the update in progress is dropped, the last finished one is saved"
SAVING = "saving the update in progress when it is finished, and going on"


def keep_memory() -> None:
    """Tell glibc to keep what it was given: large tensors come and go at every step.

    Measured on 2 cores at the smallest model: 1.9 times the training speed.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(NO_MMAP, 0)
        libc.mallopt(TRIM, NEVER)


def wait_asleep() -> None:
    """Tell threads of OpenMP, before torch is loaded, not to wait for each other awake.

    Awake they keep the core from the one they wait for, where other programs want it too. For
    training; the small pieces of a search would wait for every waking (decision 0032).
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def use_threads(threads: int) -> None:
    """As many threads as the run began with: their number changes the last bit."""
    import torch

    torch.set_num_threads(threads)


def import_undisturbed(name: str) -> None:
    """Import what takes long; a signal is answered after it, for half an import stays broken."""
    heard: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {one: signal.signal(one, lambda number, _: heard.append(number)) for one in numbers}
    try:
        importlib.import_module(name)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if heard:
        signal.raise_signal(heard[0])


def die_with(parent: int) -> None:
    """End when the launcher does, if there is one, however it ends: nobody is left behind."""
    if not parent:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SIGNAL_AT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:  # it is gone already
        raise Terminated


def no_save_yet() -> None:
    """SIGUSR1 asks for a save; before there is anything to save, it asks in vain."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


@contextmanager
def asking(asked: Callable[[int], None]) -> Iterator[None]:
    """The first SIGINT or SIGTERM asks, so does each SIGUSR1; the second of the others ends."""
    heard: list[int] = []

    def hear(number: int, _: FrameType | None) -> None:
        if number != signal.SIGUSR1:
            if heard:
                raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
            heard.append(number)
        asked(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = {number: signal.signal(number, hear) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stopping(said: Callable[[str], None]) -> Iterator[Requests]:
    """Signals ask the work to end well, or to save and go on."""
    requests = Requests()

    def asked(number: int) -> None:
        if number == signal.SIGUSR1:
            requests.save, word = True, SAVING
        else:
            requests.stop, word = requests.stop or number, STOPPING
        with suppress(RuntimeError):  # it came while something else was being said
            said(word)

    with asking(asked):
        yield requests
