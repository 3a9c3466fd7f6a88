"""What commands need of their surroundings: open streams that wait, a terminal with a size."""

import io
import os
import re
import select
import sys
from typing import final

from transduce.errors import SaveError

TERMINAL_SIZE = re.compile("[1-9][0-9]{0,3}")


def replace_closed_streams() -> None:
    """Replace closed standard streams, so that no file is opened under their numbers 0, 1 and 2.

    Messages to a closed standard error are dropped. Writing to a closed standard output is an
    error; so is reading a closed standard input, which stays None in `sys`.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, the closed stream's
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = ClosedOutput()


def use_blocking_streams() -> None:
    """Make standard streams wait for data; without waiting, parts of a line would be whole lines.

    Programs that leave a pipe or a terminal non-blocking pass it on to those that they start.
    """
    for number in range(3):
        os.set_blocking(number, True)


def detach_from_terminal() -> None:
    """Discard all later output to the closed terminal, so that writing does not fail."""
    poll = select.poll()
    for number in (1, 2):
        poll.register(number, 0)
    hung_up = {number for number, event in poll.poll(0) if event & select.POLLHUP}
    for number in (1, 2):
        if number in hung_up or os.isatty(number):
            os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), number)


def ignore_absurd_terminal_sizes() -> None:
    """Remove COLUMNS and LINES from the environment unless they are numbers from 1 to 9999."""
    for name in ("COLUMNS", "LINES"):
        if not TERMINAL_SIZE.fullmatch(os.environ.get(name, "")):
            os.environ.pop(name, None)


@final
class ClosedOutput(io.TextIOBase):
    """A text stream in place of a closed standard output: any text written to it is an error."""

    def write(self, text: str, /) -> int:
        """Raise SaveError, unless the text is empty."""
        if text:
            raise SaveError("standard output is closed", "leave it open, or name a file with -o")
        return 0
