"""What a piece of code opens, connects to and starts, and how long it may take."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROCESSOR_SECONDS, SECONDS = 20, 120  # a folder that takes longer hangs
STARTS = ("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
active: list["Notes"] = []


@dataclass
class Notes:
    """What happened between the start and the end of a watch."""

    folder: Path
    opened: int = 0  # files inside of the folder
    outside: list[str] = field(default_factory=list)  # files elsewhere, but Python's own modules
    forbidden: list[str] = field(default_factory=list)  # sockets, processes, code, writing
    megabytes: float = 0.0  # growth of the largest memory that the process ever had


class HangError(Exception):
    """The time is over."""


def hear(event: str, arguments: tuple[Any, ...]) -> None:
    """Python's own audit: called before each such event, in every thread."""
    if not active:
        return
    here = active[-1]
    if event == "open" and isinstance(arguments[0], str | bytes):
        path = os.fsdecode(arguments[0])
        if path.startswith(str(here.folder)):
            here.opened += 1
        elif not path.endswith((".py", ".pyc")) and not path.startswith(("/proc/", "/sys/")):
            here.outside.append(path)
        if isinstance(arguments[2], int) and arguments[2] & WRITES:
            here.forbidden.append(f"writes {path}")
    elif event.startswith("socket.") or event in STARTS or event == "pickle.find_class":
        here.forbidden.append(event)


sys.addaudithook(hear)


@contextmanager
def watch(folder: Path) -> Iterator[Notes]:
    """Note what happens inside a with block, and raise HangError if it does not end."""
    found, before = Notes(folder), peak()
    previous = [signal.signal(one, stop) for one in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    signal.alarm(SECONDS)
    active.append(found)
    try:
        yield found
    finally:
        active.pop()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in zip((signal.SIGPROF, signal.SIGALRM), previous, strict=True):
            signal.signal(number, handler)
        found.megabytes = peak() - before


def stop(_number: int, _frame: object) -> None:
    """The handler of both clocks."""
    raise HangError


def peak() -> float:
    """The most memory that this process ever had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024


def outcome(use: Callable[[], object]) -> str:
    """How a use of a folder ended: its exit code and sentence, "used", or a fault."""
    from transduce.errors import TransduceError

    try:
        use()
    except TransduceError as error:
        return f"{error.exit_code}: {error.fact}"
    except HangError:
        return "hangs"
    except Exception as error:  # noqa: BLE001 - any other error would be a traceback
        return f"traceback: {type(error).__name__}: {error}"
    return "used"
