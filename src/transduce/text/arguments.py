"""Reading and checking of the Python API's text arguments: a file's path, or a list of lines."""

import errno
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, TypeGuard

from transduce.errors import InputError, short_repr
from transduce.text.files import read_short_lines

Text = Path | str | Sequence[str]  # the path of a file, or a list of lines


def ignore_event(*_: object) -> None:
    """Do nothing; the default of a parameter that takes a callback for events."""


def describe_value(value: object) -> str:
    """Return a value's shortened repr and its type name, for an error message."""
    return f"{short_repr(value)} ({type(value).__name__})"


def require_names(argument: str, names: object) -> None:
    """Raise InputError, naming `argument`, unless `names` is a list or tuple of strings."""
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise InputError(f"{argument} is a list of names, not {describe_value(names)}")


def is_pair(value: object) -> TypeGuard[tuple[Any, Any]]:
    """Return whether a value is a tuple or list of two items."""
    return isinstance(value, tuple | list) and len(value) == 2


def require_count(name: str, value: object) -> None:
    """Raise InputError, naming `name`, unless `value` is an int (no bool) from 1 to 2^63 - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= sys.maxsize:
        is_large = isinstance(value, int) and value > sys.maxsize
        wanted = "at most 2^63 - 1" if is_large else "at least 1"
        fact = f"{name} must be a whole number of {wanted}, not {describe_value(value)}"
        raise InputError(fact)


def read_path(name: str, value: object) -> Path:
    """Return `value` as a Path, existing or not; InputError if empty, inaccessible or no path."""
    if not isinstance(value, str | PathLike):
        raise InputError(f"{name} must be a path, not {describe_value(value)}")
    if not os.fspath(value):
        raise InputError(f"{name} is an empty path", "a dot, '.', names this folder")
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(value)
        return Path(value)
    except OSError as error:
        reason = os.strerror(error.errno or errno.EIO).lower()
        fact = f"{name} {short_repr(str(value))} cannot be reached: {reason}"
        raise InputError(fact, "check the path and its permissions") from None
    except (ValueError, TypeError):  # a NUL byte, half a surrogate pair, or bytes
        raise InputError(f"{name} is no path: {describe_value(value)}") from None


def read_folder(folder: object) -> Path:
    """Return `folder`, existing or not, as an absolute Path; InputError as in `read_path`.

    The path is absolute because a callback may change the process's working folder. If the working
    folder is gone, a relative path stays relative.
    """
    path = read_path("folder", folder)
    with suppress(FileNotFoundError):  # the working folder is gone; using the path will fail
        return path.absolute()
    return path


def require_string(name: str, value: object) -> None:
    """Raise InputError unless the argument called `name` is a string that UTF-8 can encode."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a string, not {describe_value(value)}")
    require_encodable(name, value)


def require_encodable(name: str, text: str) -> None:
    """Raise InputError if a text has an unpaired surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name} has half a surrogate pair (U+{ord(text[error.start]):04X}) at character "
            f"{error.start + 1}",
            "decode the text as UTF-8; transduce.text.clean.normalise writes U+FFFD in its place",
        ) from None


def read_text(name: str, text: Text) -> list[str]:
    """Return the lines of `text`, a file's path or a list of lines; InputError if it is neither.

    The path "-" is standard input. An error about a list calls it `name`; one about a file names
    the file.
    """
    if isinstance(text, Path | str):
        return list(
            read_short_lines(text if str(text) == "-" else read_path(name or "the text", text))
        )
    require_lines(name, text)
    return list(check_lines(name, text))


def require_lines(name: str, value: object) -> None:
    """Raise InputError if `value` is not an ordered iterable, or is a string, bytes or a path."""
    if isinstance(value, str | bytes | Path | Mapping | Set) or not isinstance(value, Iterable):
        raise InputError(
            f"{name} must be lines of text, such as a list, not {describe_value(value)}"
        )


def check_lines(name: str, lines: Iterable[Any]) -> Iterator[str]:
    """Yield each line; InputError, naming `name`, at one that is no string or not encodable."""
    for number, line in enumerate(lines, start=1):
        require_string(f"{name}: item {number}", line)
        yield line


def check_pairs(name: str, pairs: Iterable[Any], hint: str = "") -> Iterator[tuple[str, str]]:
    """Yield each pair as a tuple; InputError at an item that is not two strings, or not encodable.

    `hint` is the hint of the error for an item that is not two strings.
    """
    for number, pair in enumerate(pairs, start=1):
        if not is_pair(pair) or not all(isinstance(side, str) for side in pair):
            found = describe_value(pair)
            raise InputError(f"{name}: item {number} must be (source, target), not {found}", hint)
        for side in pair:
            require_encodable(f"{name}: item {number}", side)
        yield pair[0], pair[1]


def require_equal_lines(**sides: Sequence[str]) -> None:
    """Raise InputError if two lists of lines, passed as keyword arguments, differ in length."""
    (name, lines), (other, found) = sides.items()
    if len(lines) != len(found):
        fact = f"the {name} has {len(lines):,} lines, but the {other} has {len(found):,}"
        raise InputError(fact, "line i of one must be the translation of line i of the other")
