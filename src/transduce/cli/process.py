"""Switches of the whole process: set here, at the start of a command, and nowhere else."""

import ctypes
import importlib
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import final

from transduce.cli.outcome import Terminated

NO_MMAP, TRIM = -4, -1  # glibc's M_MMAP_MAX and M_TRIM_THRESHOLD
NEVER = 2**31 - 1


def keep_memory() -> None:
    """Tell glibc to keep what it was given: large tensors come and go at every step.

    Measured on 2 cores at the smallest model: 1.9 times the training speed (docs/speed.md).
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(NO_MMAP, 0)
        libc.mallopt(TRIM, NEVER)


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


@final
class Stop:
    """Whether, and by which signal, this process was asked to stop."""

    signal: int = 0

    def __call__(self) -> bool:
        """Asked before every piece of work that can be dropped."""
        return bool(self.signal)

    @property
    def exit_code(self) -> int:
        """130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.signal


@contextmanager
def stopping(said: Callable[[str], None]) -> Iterator[Stop]:
    """The first SIGINT or SIGTERM asks the work to end well, the second ends it at once."""
    stop = Stop()

    def asked(number: int, _: FrameType | None) -> None:
        if stop.signal:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        stop.signal = number
        with suppress(RuntimeError):  # it came while something else was being said
            said("stopping: the update in progress is dropped, the last finished one is saved")

    before = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
