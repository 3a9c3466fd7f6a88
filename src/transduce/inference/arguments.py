"""Checks of what a Python caller passes: errors that name the argument and what it was given."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from transduce.errors import InputError, suggest_names

MAX_CHARACTERS = 60  # characters of a wrong value


def describe_value(value: object) -> str:
    """Return a value as an error message shows it: its repr, shortened, and its type."""
    text = repr(value)
    short = text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"
    return f"{short} ({type(value).__name__})"


def require_text(name: str, value: object) -> None:
    """Refuse an argument that is neither a string nor None."""
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} must be a string, not {describe_value(value)}")


def require_count(name: str, value: object) -> None:
    """Refuse an argument that is not a whole number of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(
            f"{name} must be a whole number of at least 1, not {describe_value(value)}"
        )


def require_lines(name: str, value: object) -> None:
    """Refuse an argument that is a single string or path, or cannot be iterated over."""
    if isinstance(value, str | Path) or not isinstance(value, Iterable):
        raise InputError(
            f"{name} must be lines of text, such as a list, not {describe_value(value)}"
        )


def checked_lines(name: str, lines: Iterable[Any]) -> Iterator[str]:
    """Yield lines lazily; refuse an item that is no string, with its number."""
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, str):
            raise InputError(f"{name}: item {number} must be a string, not {describe_value(line)}")
        yield line


def require_known(name: str, changes: Mapping[str, object], settings: type) -> None:
    """Refuse a keyword of method `name` that is no field of the settings class it changes."""
    known = [field.name for field in fields(settings)]
    for key in changes:
        if key not in known:
            raise InputError(f"{name}() has no setting {key!r}", suggest_names(key, known))
