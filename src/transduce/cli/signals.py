"""Handle signals: in a training the first requests a stop, and the second ends it at once."""

import ctypes
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType

from transduce.cli.display import detach_from_terminal
from transduce.cli.outcome import ProcessorTimeSpent, TerminalClosed, Terminated
from transduce.training.distributed.rank import SignalRequests

SIGNAL_AT_DEATH = 1  # the value of PR_SET_PDEATHSIG in Linux
STOP_MESSAGE = "stopping: the update in progress is dropped, the last finished one is saved"
ENDS: Mapping[int, type[KeyboardInterrupt]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: Terminated,
    signal.SIGHUP: TerminalClosed,
    signal.SIGXCPU: ProcessorTimeSpent,
}
Handler = Callable[[int, FrameType | None], object]
CHECKPOINT_MESSAGE = "saving a checkpoint when the update in progress is finished"


class SignalsDeferred(MetaPathFinder):
    """An import finder that delays the signals that end a command while torch is imported.

    Code in C that torch runs during its import swallows the errors that signals raise.
    """

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return a spec that delays signals in the main thread's first torch import, else None."""
        if name != "torch" or threading.current_thread() is not threading.main_thread():
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def execute(module: ModuleType) -> None:
                received: list[int] = []
                handler: Handler = lambda number, _: received.append(number)  # noqa: E731
                with install_handlers(dict.fromkeys(list_ending_signals(), handler)):
                    load(module)
                if received:
                    signal.raise_signal(received[0])

            spec.loader.exec_module = execute  # type: ignore[method-assign]
        return spec


@contextmanager
def install_handlers(handlers: Mapping[int, Handler]) -> Iterator[None]:
    """In a with block, handle each signal by its function; restore the handlers at the end."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def list_ending_signals() -> tuple[signal.Signals, ...]:
    """Return SIGINT, SIGTERM and SIGXCPU, and SIGHUP too unless it is ignored, as under nohup."""
    has_terminal = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
    hangup = (signal.SIGHUP,) if has_terminal else ()
    return (signal.SIGINT, signal.SIGTERM, signal.SIGXCPU, *hangup)


def die_with_parent(parent: int) -> None:
    """Make Linux kill this process when process `parent` ends; do nothing if `parent` is 0.

    Raises Terminated if the parent has ended already.
    """
    if not parent:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SIGNAL_AT_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        raise Terminated


def ignore_checkpoint_signal() -> None:
    """Ignore SIGUSR1, a request for a checkpoint, until a training handles it."""
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)


@contextmanager
def handle_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """In a with block, pass SIGUSR1 and the first ending signal to `handle`; the second raises."""
    received: list[int] = []

    def receive(number: int, _: FrameType | None) -> None:
        if number != signal.SIGUSR1:
            if not count_ending_signal(number, received):
                return
            if len(received) > 1:
                raise ENDS[number]
        handle(number)

    with install_handlers(dict.fromkeys((*list_ending_signals(), signal.SIGUSR1), receive)):
        yield


def count_ending_signal(number: int, received: list[int]) -> bool:
    """Append an ending signal to `received` and return True; return False for a repeated SIGXCPU.

    The system repeats SIGXCPU every second. After SIGHUP the terminal is no longer written to.
    """
    if number == signal.SIGHUP:
        detach_from_terminal()
    if (number, *received[:1]) == (signal.SIGXCPU, signal.SIGXCPU):
        return False
    received.append(number)
    return True


@contextmanager
def signals_as_requests(report: Callable[[str], None]) -> Iterator[SignalRequests]:
    """In a with block, yield the stop and checkpoint requests that signals set; report each one."""
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
    """In a with block, treat SIGTERM, SIGHUP and SIGXCPU as Ctrl-C, so that a run is saved.

    Ctrl-C works even if it was ignored before. When any of the three signals ends the with block,
    the error of the first that arrived is raised in place of KeyboardInterrupt.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if count_ending_signal(number, received):
            handle = signal.getsignal(signal.SIGINT)  # in a training it requests a stop
            assert callable(handle)
            handle(number, frame)

    handlers: dict[int, Handler] = dict.fromkeys(list_ending_signals(), interrupt)
    handlers[signal.SIGINT] = signal.default_int_handler
    with install_handlers(handlers):
        try:
            yield
        except KeyboardInterrupt as error:
            if not received:
                raise
            raise ENDS[received[0]] from error
