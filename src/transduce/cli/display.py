"""All that reaches a terminal: results on standard output, everything else on standard error."""

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
    """Where people look while a program works; it honours NO_COLOR and TERM=dumb."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def result(line: str) -> None:
    """A line of the result."""
    print(line)


def tell(line: str) -> None:
    """A line for people."""
    print(visible(line), file=sys.stderr, flush=True)


def visible(text: str) -> str:
    """The text, with characters written out that would act on a terminal or deceive its reader."""
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in text
    )


@contextmanager
def counting(*, shown: bool) -> Iterator[Callable[[str, int], None]]:
    """A line on a terminal that says what is being done and how many pairs were read for it."""
    where = console()
    if not shown or not where.is_terminal:
        yield lambda _what, _pairs: None
        return
    with where.status("reading") as status:
        yield lambda what, pairs: status.update(f"{what}: {pairs:,} pairs")


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows with their cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def nobody_reads() -> bool:
    """Whether the reader of standard output or standard error has gone, as in `| head`."""
    poll = select.poll()
    for descriptor in (1, 2):
        poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def settle() -> None:
    """Give up what cannot be written: Python would try once more at its end, and complain."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
