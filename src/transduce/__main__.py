"""`python -m transduce` is the command `transduce`."""

import os
import signal

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

LOADING = b"error: ended by a signal while it was loading\nhint: the same command starts again\n"


def start() -> "NoReturn":
    """Load and run the command line."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, leave)
    from transduce.cli.main import main

    main()


def leave(number: int, _frame: "FrameType | None") -> "NoReturn":
    """Signal handler while loading: print an error and exit at once with 128 + `number`."""
    try:
        os.write(2, LOADING)
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    start()
