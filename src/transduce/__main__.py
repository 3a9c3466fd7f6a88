"""`python -m transduce` is the command `transduce`."""

import signal

TYPE_CHECKING = False  # typing is slow to import, and Ctrl-C meanwhile shows a traceback
if TYPE_CHECKING:
    from typing import NoReturn


def start() -> "NoReturn":
    """Load and run the command line; Ctrl-C during loading ends the process without a traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # otherwise Ctrl-C is ignored here
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from transduce.cli.main import main

    signal.signal(signal.SIGINT, handler)
    main()


if __name__ == "__main__":
    start()
