"""Print to the terminal: results on standard output, everything else on standard error."""

import errno
import json
import os
import select
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from transduce.errors import cut_message

if TYPE_CHECKING:
    from rich.console import Console

    from transduce.scores.bootstrap import Comparison

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def build_console() -> "Console":
    """Build a rich console on standard error, which honours NO_COLOR and TERM=dumb.

    FORCE_COLOR, which many build servers set, does not make a terminal of a file.
    """
    from rich.console import Console

    return Console(
        stderr=True,
        force_terminal=None if sys.stderr.isatty() else False,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def print_result(line: str) -> None:
    """Print a line of the command's result on standard output."""
    print(line)


def print_message(line: str) -> None:
    """Print a message, warning or error on standard error, with control characters escaped.

    Where standard error cannot be written, as on a full disk, messages are dropped: neither a
    training nor an exit code depends on them.
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


def discard_messages() -> None:
    """Discard all later output to standard error, and what is buffered, so that none fails."""
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 2)


def print_note(line: str) -> None:
    """Print a note on standard error, unless the running command was given --quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("quiet"):
        print_message(line)


def escape_controls(text: str) -> str:
    """Return a text with control characters escaped, as \\x1b, so that no terminal obeys them."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in text
    )


@contextmanager
def show_pair_count(*, live: bool) -> Iterator[Callable[[str, int], None]]:
    """In a with block, show a status line; yield a function to set its activity and pair count."""
    console = build_console()
    if not live or not console.is_terminal:
        yield lambda _what, _pairs: None
        return
    with console.status("reading") as status:
        yield lambda what, pairs: status.update(f"{what}: {pairs:,} pairs")


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each row of a table as a line, its cells padded to the width of their columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def print_comparison(found: "Comparison", files: tuple[str, str], *, as_json: bool) -> None:
    """Print the comparison of two files: their scores and the difference, or one JSON object."""
    if as_json:
        print_result(json.dumps(found.as_json(), ensure_ascii=False))
        return
    from transduce.scores.score import format_scores

    for line, file in zip(format_scores((found.ours, found.theirs)), files, strict=True):
        print_result(f"{line} | {file}")
    print_result(str(found))
    if found.ours.paper_comparability:
        print_message(f"  {found.ours.name}: {found.ours.paper_comparability}")


def align_right(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows of a table with all cells padded on the left, except each row's first."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        [row[0], *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        for row in rows
    ]


def is_pipe_closed() -> bool:
    """Return whether the reader of standard output or error has closed its pipe, as `head` does."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def flush_output() -> None:
    """Flush standard output; if that fails, discard the rest, so that Python's exit cannot fail."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
