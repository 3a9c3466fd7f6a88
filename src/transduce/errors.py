"""Errors as one small tree, each class with its exit code.

    TransduceError        the user can put it right; printed as one sentence and a hint
    ├── InputError        2  wrong usage, or input that cannot be used
    ├── FolderError       3  a run, store or model folder is damaged or foreign
    ├── SaveError         4  a file that must be kept cannot be written
    ├── NotFiniteError    5  loss or gradients are not finite
    ├── InUseError        6  another process works in this folder
    └── LostProcessError  7  a process of this run has ended early

The number is the exit code of the command line. An `assert` that fails is a mistake of ours and
keeps its traceback (exit code 1).
"""

import difflib
from collections.abc import Iterable
from pathlib import Path


class TransduceError(Exception):
    """An error that the user can put right: a fact, its location, and a hint what to do."""

    exit_code = 2

    def __init__(
        self, fact: str, hint: str = "", *, file: str | Path | None = None, line: int | None = None
    ) -> None:
        location = "" if file is None else f"{file}: " if line is None else f"{file}, line {line}: "
        self.fact = location + fact
        self.hint = hint
        super().__init__(self.fact + (f"\nhint: {hint}" if hint else ""))


class InputError(TransduceError):
    """Wrong usage, or input that cannot be used (exit code 2)."""


class FolderError(TransduceError):
    """A folder that is damaged, foreign, or written by a newer version (exit code 3)."""

    exit_code = 3


class SaveError(TransduceError):
    """A file that must be kept cannot be written (exit code 4)."""

    exit_code = 4


class NotFiniteError(TransduceError):
    """Loss or gradients are not finite in several updates in a row (exit code 5)."""

    exit_code = 5


class InUseError(TransduceError):
    """Another process works in this folder (exit code 6)."""

    exit_code = 6


class LostProcessError(TransduceError):
    """A process of this run ended before the run did (exit code 7)."""

    exit_code = 7


def suggest_names(name: str, known: Iterable[str]) -> str:
    """Return a hint that lists the known names closest to a mistaken one."""
    names = sorted(known)
    longer = [one for one in names if one.endswith((f".{name}", f"/{name}"))]
    close = longer or difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + ", ".join(names)
