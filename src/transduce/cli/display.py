"""Print to the terminal: results on standard output, everything else on standard error."""

import os
import select
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> "Console":
    """Return rich's console on standard error, which honours NO_COLOR and TERM=dumb."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def result(line: str) -> None:
    """Print a line of the result on standard output."""
    print(line)


def tell(line: str) -> None:
    """Print a line that is not part of the result on standard error."""
    print(visible(line), file=sys.stderr, flush=True)


def visible(text: str) -> str:
    """Escape the control and format characters of a text, which could act on a terminal."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in text
    )


@contextmanager
def counting(*, shown: bool) -> Iterator[Callable[[str, int], None]]:
    """Show the activity and number of pairs read on a terminal; yield the function to update it."""
    where = console()
    if not shown or not where.is_terminal:
        yield lambda _what, _pairs: None
        return
    with where.status("reading") as status:
        yield lambda what, pairs: status.update(f"{what}: {pairs:,} pairs")


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines whose cells are aligned in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def nobody_reads() -> bool:
    """Return whether the reader of standard output or error has closed its pipe, as `head` does."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def settle() -> None:
    """Flush standard output; discard what cannot be written, so that Python exits without error."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
