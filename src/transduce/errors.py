"""The exception classes of this package, each with the exit code of the command line.

    TransduceError               an error that the user can correct: one sentence and a hint
    ├── InputError            2  wrong usage, or input that cannot be used
    ├── FolderError           3  a run, store or model folder is damaged or not made by this package
    ├── SaveError             4  an output file or folder cannot be written
    ├── NotFiniteError        5  loss or gradients are not finite in several updates in a row
    ├── InUseError            6  another process works in this folder
    ├── LostProcessError      7  a process of a distributed run ended before the run was finished
    └── NotEnoughMemoryError  8  memory ran out, or a limit on it was reached

A failed `assert` is a bug of this package; it keeps its traceback and has exit code 1.
"""

import difflib
from collections.abc import Iterable
from pathlib import Path


class TransduceError(Exception):
    """An error that the user can correct: what is wrong, where, and a hint on what to do."""

    exit_code = 2

    def __init__(
        self,
        fact: str,
        hint: str = "",
        *,
        file: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        named = (("", file), ("line ", line), ("column ", column))
        location = ", ".join(f"{name}{value}" for name, value in named if value is not None)
        self.fact = f"{location}: {fact}" if location else fact
        self.hint = hint
        super().__init__(self.fact + (f"\nhint: {hint}" if hint else ""))


class InputError(TransduceError):
    """The error that a call or an option is wrong, or an input unusable (exit code 2)."""


class FolderError(TransduceError):
    """The error that a folder is damaged, of a wrong kind or of a newer version (exit code 3)."""

    exit_code = 3


class SaveError(TransduceError):
    """The error that an output file or folder cannot be written (exit code 4)."""

    exit_code = 4


class NotFiniteError(TransduceError):
    """The error that losses, weights or scores are NaN or infinite (exit code 5)."""

    exit_code = 5


class InUseError(TransduceError):
    """The error that another process works in a folder (exit code 6)."""

    exit_code = 6


class LostProcessError(TransduceError):
    """The error that one of several processes ended before the work was finished (exit code 7)."""

    exit_code = 7


class NotEnoughMemoryError(TransduceError):
    """The error that memory ran out, or a limit on it was reached (exit code 8)."""

    exit_code = 8


def short_repr(value: object, longest: int = 60) -> str:
    """Return a value's repr for an error message, cut after `longest` characters."""
    try:
        text = repr(value)
    except ValueError:  # a number of more than 4,300 digits
        return f"{type(value).__name__} with very many digits"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def suggest_names(name: str, known: Iterable[str]) -> str:
    """Return a hint that lists the known names most similar to an unknown name, or all of them."""
    names = sorted(known)
    longer = [one for one in names if one.endswith((f".{name}", f"/{name}"))]
    close = longer or difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + ", ".join(names)
