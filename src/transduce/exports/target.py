"""The interface of an export target: how it writes files, and how its program translates."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, final, runtime_checkable

from transduce.durable.folder import FolderWriter
from transduce.errors import shorten
from transduce.inference.load import TaskModel
from transduce.settings import Search

README = "README.md"


@final
@dataclass(frozen=True)
class EngineOutput:
    """Another program's translation of a line and its log P, NaN if the program gives none."""

    text: str
    log_prob: float
    is_cut: bool = False  # whether the output has as many symbols as allowed, and no end symbol


@runtime_checkable
class Engine(Protocol):
    """Another program that has loaded an exported model and translates lines of text."""

    name: str  # name and version, such as "ctranslate2 4.5.0"
    limits_length: bool  # whether the program obeys `max_length`
    is_greedy: bool  # whether the program is used with a beam of 1 only
    ends_in_best_beam: bool  # whether END ends a hypothesis only among the W best continuations

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return each line's best output by a beam of width `beam`, without length penalty.

        If `limits_length`, an output has at most `max_length` symbols before END.
        """
        ...


@contextmanager
def raise_import_errors(package: str) -> Iterator[None]:
    """Context manager that turns any error of importing `package` into a clear ImportError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ModuleNotFoundError):
            fact, package = "is not installed here", error.name or package
        else:
            fact = f"does not load here ({type(error).__name__}: {shorten(str(error), 200)})"
        raise ImportError(f"{package} {fact}", name=package) from error


def describe_penalty(search: Search, greedy: str) -> list[str]:
    """Return [a sentence on how the program's length penalty differs], or [] if `search` has none.

    `greedy` is the program's option for greedy search, such as "num_beams=1".
    """
    if search.penalty == "none":
        return []
    return [
        f"its length penalty is log P / |Y|^alpha, not search.penalty={search.penalty}: the "
        f"searches are equal with {greedy} or length_penalty=0"
    ]


@final
@dataclass(frozen=True)
class Target:
    """A program that models can be exported to, with functions that write and load its files."""

    name: str
    precisions: tuple[str, ...]
    write: Callable[[TaskModel, FolderWriter, str], None]  # the model, its folder, the precision
    explain_unsupported: Callable[[TaskModel], str]  # why it cannot compute the model, or ""
    list_differences: Callable[[TaskModel], list[str]]  # what the program does differently
    open_engine: Callable[[Path, TaskModel], Engine]  # raises ImportError without the program
    install: str  # how users install the program
    library: str  # what model hubs call the program
    describe_use: Callable[[TaskModel], str]  # how to load the files, in Markdown
    suffix: str = ""  # the suffix of the file that `pack` writes; "" if the export is a folder
    pack: Callable[[Path, Path], None] | None = None  # a folder, the file to write
    is_packed: Callable[[Path], bool] = Path.is_file  # whether a file was written by `pack`
