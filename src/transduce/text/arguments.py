"""Text arguments of the Python API, files or lists of lines, with errors that name the argument."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from transduce.errors import InputError
from transduce.text.files import read_lines

Text = str | Path | Sequence[str]  # a file, or lines
MAX_CHARACTERS = 60  # of a wrong value's repr in an error message


def describe_value(value: object) -> str:
    """Return a value's shortened repr and its type name, for an error message."""
    text = repr(value)
    short = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    return f"{short} ({type(value).__name__})"


def read_text(name: str, text: Text) -> list[str]:
    """Return a text as a list of lines, read from a file if a path is given.

    `name` is the name of the caller's argument that holds the text, for error messages.
    """
    if isinstance(text, str | Path):
        return list(read_lines(text))
    require_lines(name, text)
    return list(checked_lines(name, text))


def require_lines(name: str, value: object) -> None:
    """Raise InputError if the argument `name` is one string or path, or is not iterable."""
    if isinstance(value, str | Path) or not isinstance(value, Iterable):
        raise InputError(
            f"{name} must be lines of text, such as a list, not {describe_value(value)}"
        )


def checked_lines(name: str, lines: Iterable[Any]) -> Iterator[str]:
    """Yield lines lazily; raise InputError with the item's number if an item is not a string."""
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise InputError(f"{name}: item {number} must be a string, not {describe_value(line)}")
        yield line
