"""Handle signals in commands: the first requests a stop, the second ends the process at once."""

import ctypes
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType

from transduce.cli.outcome import ProcessorTimeSpent, TerminalClosed, Terminated
from transduce.cli.standard_streams import detach_from_terminal
from transduce.training.distributed.requests import SignalRequests

SIGNAL_AT_DEATH = 1  # the value of PR_SET_PDEATHSIG in Linux
STOP_MESSAGE = "stopping: the update in progress is dropped, the last finished one is saved"
ENDS: Mapping[int, type[KeyboardInterrupt]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
    signal.SIGHUP: TerminalClosed,
    signal.SIGXCPU: ProcessorTimeSpent,
}
CHECKPOINT_MESSAGE = "saving a checkpoint when the update in progress is finished"


def import_with_signals_deferred(name: str) -> None:
    """Import a module, and delay the signals that end a command until the import is complete."""
    received: list[int] = []
    numbers = ending_signals()
    before = {one: signal.signal(one, lambda number, _: received.append(number)) for one in numbers}
    try:
        importlib.import_module(name)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        signal.raise_signal(received[0])


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end a command, without SIGHUP if it is ignored, as under nohup."""
    has_terminal = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
    hangup = (signal.SIGHUP,) if has_terminal else ()
    return (signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, *hangup)


def die_with_parent(parent: int) -> None:
    """Make Linux kill this process when process `parent` ends; do nothing if `parent` is 0."""
    if not parent:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SIGNAL_AT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:  # the parent has ended already
        raise Terminated


def ignore_checkpoint_signal() -> None:
    """Ignore SIGUSR1, which requests a checkpoint, until training can write one."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


@contextmanager
def handle_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """In a with block, pass SIGUSR1 and the first ending signal to `handle`; raise at the second.

    The system repeats SIGXCPU every second: only its first one counts.
    """
    received: list[int] = []

    def receive(number: int, _: FrameType | None) -> None:
        if number != signal.SIGUSR1:
            if number == signal.SIGHUP:
                detach_from_terminal()
            if received and (number, received[0]) == (signal.SIGXCPU, signal.SIGXCPU):
                return
            if received:
                raise ENDS[number]
            received.append(number)
        handle(number)

    numbers = (*ending_signals(), signal.SIGUSR1)
    before = {number: signal.signal(number, receive) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def signals_as_requests(report: Callable[[str], None]) -> Iterator[SignalRequests]:
    """In a with block, turn signals into requests to stop or to checkpoint; `report` each one."""
    requests = SignalRequests()

    def handle(number: int) -> None:
        if number == signal.SIGUSR1:
            requests.checkpoint, message = True, CHECKPOINT_MESSAGE
        else:
            requests.stop_signal, message = requests.stop_signal or number, STOP_MESSAGE
        with suppress(RuntimeError):  # raised if the signal interrupted a print
            report(message)

    with handle_signals(handle):
        yield requests


@contextmanager
def ending_signals_as_interrupts() -> Iterator[None]:
    """Handle SIGTERM, SIGHUP and SIGXCPU as Ctrl-C, on which `transduce.train` saves its run.

    Ctrl-C works even if the shell ignores it. When the interrupt ends the with block, the error of
    the first signal is raised instead. The system repeats SIGXCPU: only its first one counts.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            detach_from_terminal()
        if (number, *received[:1]) != (signal.SIGXCPU, signal.SIGXCPU):
            received.append(number)
            handle = signal.getsignal(signal.SIGINT)  # in a training it requests a stop
            assert callable(handle)
            handle(number, frame)

    before = {
        number: signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else interrupt
        )
        for number in ending_signals()
    }
    try:
        yield
    except KeyboardInterrupt as error:
        if not received:
            raise
        raise ENDS[received[0]] from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
