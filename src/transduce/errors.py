"""What can go wrong, as one small tree.

    TransduceError        the user can put it right; printed as one sentence and a hint
    ├── InputError        2  wrong usage, or input that cannot be used
    ├── FolderError       3  a run, store or model folder that is damaged or foreign
    ├── SaveError         4  the disk does not take what must be saved
    ├── NotFiniteError    5  the numbers of a run left the finite world
    ├── InUseError        6  another process works in this folder
    └── LostProcessError  7  a process of this run is gone

The number is the exit code of the command line. An `assert` that fails is a mistake of ours and
keeps its traceback (exit code 1).
"""

import difflib
from collections.abc import Iterable
from pathlib import Path


class TransduceError(Exception):
    """A fact, where it holds, and the next move."""

    exit_code = 2

    def __init__(
        self, fact: str, hint: str = "", *, file: str | Path | None = None, line: int | None = None
    ) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}, line {line}: "
        self.fact = place + fact
        self.hint = hint
        super().__init__(self.fact + (f"\nhint: {hint}" if hint else ""))


class InputError(TransduceError):
    """Wrong usage, or input that cannot be used."""


class FolderError(TransduceError):
    """A folder that is damaged, foreign, or written by a newer version."""

    exit_code = 3


class SaveError(TransduceError):
    """What must be kept cannot be written."""

    exit_code = 4


class NotFiniteError(TransduceError):
    """Loss or gradients are not finite, several updates in a row."""

    exit_code = 5


class InUseError(TransduceError):
    """Another process holds this folder."""

    exit_code = 6


class LostProcessError(TransduceError):
    """A process of this run ended before its time."""

    exit_code = 7


def suggest_names(name: str, known: Iterable[str]) -> str:
    """A hint that offers the known names closest to a mistaken one."""
    names = sorted(known)
    longer = [one for one in names if one.endswith((f".{name}", f"/{name}"))]
    close = longer or difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + ", ".join(names)
