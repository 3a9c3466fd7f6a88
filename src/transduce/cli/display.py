"""Print to the terminal: results on standard output, everything else on standard error."""

import errno
import io
import json
import logging
import os
import re
import select
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, final

import click

from transduce.errors import SaveError, cut_message

if TYPE_CHECKING:
    from rich.console import Console

    from transduce.scores.score import Score
    from transduce.scores.scoring import Comparison

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
TERMINAL_SIZE = re.compile("[1-9][0-9]{0,3}")


def build_console() -> "Console":
    """Build a rich console on standard error, which honours NO_COLOR and TERM=dumb.

    A file does not count as a terminal, even with FORCE_COLOR, which many build servers set.
    """
    from rich.console import Console

    return Console(
        stderr=True,
        force_terminal=None if sys.stderr and sys.stderr.isatty() else False,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def print_result(*lines: str) -> None:
    """Print lines of the command's result on standard output."""
    for line in lines:
        print(line)


def print_json(value: object) -> None:
    """Print a value as one line of JSON on standard output."""
    line = json.dumps(value, ensure_ascii=False)
    print_result(line.encode(errors="backslashreplace").decode())  # a file's name may be no UTF-8


def print_found(value: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result: with `as_json` its value as one line of JSON, otherwise its lines."""
    if as_json:
        print_json(value)
    else:
        print_result(*lines)


def print_message(line: str) -> None:
    """Print a message, warning or error on standard error, with control characters escaped.

    The middle of a very long message is left out. If standard error cannot be written, as on a
    full disk, this message and all later ones are dropped, so that neither a training nor an exit
    code depends on them.
    """
    try:
        print(escape_controls(cut_message(line)), file=sys.stderr, flush=True)
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        discard_messages()


def print_unless_unread(line: str) -> None:
    """Print a message on standard error; discard it and all later ones if the pipe is closed."""
    try:
        print_message(line)
    except BrokenPipeError:
        discard_messages()


def print_error(fact: str, hint: str = "") -> None:
    """Print the error `fact` and any hint to standard error; ignore a closed pipe."""
    print_unless_unread(f"error: {fact}")
    if hint:
        print_unless_unread(f"hint: {hint}")


def discard_messages() -> None:
    """Redirect standard error to /dev/null, so that no later or buffered message fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 2)


def print_note(*lines: str) -> None:
    """Print notes on standard error; with --quiet, print only those that are warnings."""
    for line in lines:
        if not is_quiet() or line.startswith("warning: "):
            print_message(line)


def print_logged_warnings(package: str) -> None:
    """From now on, when a package logs a warning, print its first line as a warning of ours."""
    handler = logging.Handler()
    handler.emit = lambda record: print_note(  # type: ignore[method-assign]
        f"warning: {package}: {record.getMessage().strip().partition(chr(10))[0]}"
    )
    logging.getLogger(package).handlers = [handler]


def is_quiet() -> bool:
    """Return whether the running command was given --quiet."""
    return bool(_given().get("transduce.quiet"))


def is_live() -> bool:
    """Return whether live displays are allowed, that is, without --quiet and --no-progress."""
    return not (is_quiet() or _given().get("transduce.no_progress"))


def _given() -> Mapping[str, object]:
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta


def escape_controls(text: str) -> str:
    """Return a text with control, format and surrogate characters as escapes such as \\x1b."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in text
    )


@contextmanager
def show_status(text: str) -> Iterator[Callable[[str], None]]:
    """In a with block, show a status line on a terminal; yield a function that sets its text.

    An empty text hides the line until the next text.
    """
    console = build_console()
    if not is_live() or not console.is_terminal:
        yield lambda _text: None
        return
    with console.status(text) as status:

        def show(text: str) -> None:
            status.update(text)
            (status.start if text else status.stop)()

        yield show


@contextmanager
def show_pair_count() -> Iterator[Callable[[str, int], None]]:
    """In a with block, show a status line; yield a function to set its activity and pair count."""
    with show_status("reading") as show:
        yield lambda what, pairs: show(f"{what}: {pairs:,}")


def align_columns(rows: Sequence[Sequence[str]], *, align_right: bool = False) -> Iterator[str]:
    """Yield each row of a table as a line, with cells padded to the width of their columns.

    With `align_right`, all columns but the first are aligned on the right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        pad = str.rjust if align_right else str.ljust
        cells = [pad(cell, width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def print_comparison(found: "Comparison", files: tuple[str, str], *, as_json: bool) -> None:
    """Print the comparison of two files: their scores and the difference, or one JSON object."""
    if as_json:
        print_json(found.as_json())
        return
    from transduce.scores.score import format_scores

    for line, file in zip(format_scores((found.ours, found.theirs)), files, strict=True):
        print_result(f"{line} | {file}")
    print_result(str(found))
    print_comparability(found.ours)


def print_comparability(score: "Score") -> None:
    """Print whether a score is comparable with the paper's, if the paper has one like it."""
    if score.paper_comparability:
        print_message(f"  {score.name}: {score.paper_comparability}")


def poll_outputs(event: int) -> list[int]:
    """Return those of file descriptors 1 and 2 that now have `event`, such as select.POLLHUP."""
    poll = select.poll()
    for number in (1, 2):
        poll.register(number, 0)
    return [number for number, found in poll.poll(0) if found & event]


def is_pipe_closed() -> bool:
    """Return whether the reader of standard output or standard error has closed the pipe."""
    return bool(poll_outputs(select.POLLERR))


def flush_output() -> None:
    """Flush standard output; if that fails, discard the rest, so that Python's exit cannot fail."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def replace_closed_streams() -> None:
    """Replace closed standard streams, so that no file is opened as descriptor 0, 1 or 2.

    Messages to a closed standard error are dropped. Writing to a closed standard output is an
    error; so is reading a closed standard input, which stays None in `sys`.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, that is `number`
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = ClosedOutput()


def use_blocking_streams() -> None:
    """Make standard streams blocking, since otherwise a read could return a part of a line.

    A program that makes a pipe or terminal non-blocking leaves it so for programs that it starts.
    """
    for number in range(3):
        os.set_blocking(number, True)


def detach_from_terminal() -> None:
    """Discard all later output to the closed terminal, so that writing does not fail."""
    hung_up = poll_outputs(select.POLLHUP)
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
    """A stream in place of a closed standard output; writing any text to it raises SaveError."""

    def write(self, text: str, /) -> int:
        """Return 0 for an empty text; raise SaveError for any other."""
        if text:
            raise SaveError("standard output is closed", "leave it open, or name a file with -o")
        return 0
