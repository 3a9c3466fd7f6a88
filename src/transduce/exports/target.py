"""What every export target is: its files, what it cannot carry over, and its engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, final, runtime_checkable

from transduce.durable import FolderWriter
from transduce.inference.load import Member


@final
@dataclass(frozen=True)
class EngineOutput:
    """A translation by another program, and its log-probability there."""

    text: str
    log_prob: float


@runtime_checkable
class Engine(Protocol):
    """Another program with an exported model loaded, which translates lines of text."""

    name: str  # with its version
    limits_length: bool  # whether it obeys `max_length`

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return the best output of each line without a length penalty, by beams of this width.

        An output has at most `max_length` symbols before END.
        """
        ...


@final
@dataclass(frozen=True)
class Target:
    """A program that exported models are for."""

    name: str
    precisions: tuple[str, ...]
    write: Callable[[Member, FolderWriter, str], None]  # the model, its folder, the precision
    find_unsupported: Callable[[Member], str]  # why this program cannot compute the model, or ""
    list_differences: Callable[[Member], list[str]]  # what is not carried over
    open_engine: Callable[[Path, Member], Engine]  # ImportError where the program is not installed
    install: str  # how users install the program
    suffix: str = ""  # of the one file that the files are packed in; "": they are a folder
    pack: Callable[[Path, str, BinaryIO], None] | None = None  # a folder, its name, the file
