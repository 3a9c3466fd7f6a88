"""Reading and checking of the Python API's text arguments: a file's path, or a list of lines."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from transduce.errors import InputError
from transduce.text.files import read_lines

Text = str | Path | Sequence[str]  # the path of a file, or a list of lines
MAX_CHARACTERS = 60  # longest repr of a value in an error message; a longer one is cut


def describe_value(value: object) -> str:
    """Return a value's shortened repr and its type name, for an error message."""
    text = repr(value)
    short = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    return f"{short} ({type(value).__name__})"


def read_text(name: str, text: Text) -> list[str]:
    """Return the lines of `text`, a file's path or a list of lines; errors call it `name`.

    `name` is the name of the caller's argument that holds the text.
    """
    if isinstance(text, str | Path):
        return list(read_lines(text))
    require_lines(name, text)
    return list(checked_lines(name, text))


def require_lines(name: str, value: object) -> None:
    """Raise InputError if the argument called `name` is one string, a path or not iterable."""
    if isinstance(value, str | Path) or not isinstance(value, Iterable):
        raise InputError(
            f"{name} must be lines of text, such as a list, not {describe_value(value)}"
        )


def checked_lines(name: str, lines: Iterable[Any]) -> Iterator[str]:
    """Yield each line of the argument called `name`; raise InputError at one that is no string."""
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise InputError(f"{name}: item {number} must be a string, not {describe_value(line)}")
        yield line
