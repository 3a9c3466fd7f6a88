"""How commands handle signals: the first one asks training to stop or save, the second ends it."""

import ctypes
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from transduce.cli.outcome import Terminated
from transduce.training.distributed.requests import Requests

SIGNAL_AT_DEATH = 1  # Linux' PR_SET_PDEATHSIG
STOPPING = "stopping: the update in progress is dropped, the last finished one is saved"
SAVING = "saving the update in progress when it is finished, and going on"


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
