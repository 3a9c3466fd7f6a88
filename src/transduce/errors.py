"""The exception classes of this package, each with the exit code of the command line.

    TransduceError               an error that the user can correct: one sentence and a hint
    ├── InputError            2  wrong usage, or input that cannot be used
    ├── FolderError           3  a run, store or model folder is damaged or not made by this package
    ├── SaveError             4  an output file or folder cannot be written
    ├── NotFiniteError        5  losses, weights or scores are NaN or infinite
    ├── InUseError            6  another process is using this folder
    ├── LostProcessError      7  a process of a distributed run ended before the run was finished
    └── NotEnoughMemoryError  8  memory, open files or threads ran out, or a limit was reached

A failed `assert` is a bug of this package; it keeps its traceback and has exit code 1.
"""

import difflib
import errno
import math
import os
import re
import resource
from collections.abc import Iterable
from pathlib import Path

OUT_OF_MEMORY = re.compile(
    "[Cc]an(no|')t allocate memory|not enough memory|out of memory|bad_alloc|ALLOC_FAILED"
    "|failed to map segment"
    "|could not create a primitive$"  # from oneDNN; if text follows, an operation is unsupported
)
NO_THREADS = re.compile("can't start new thread|ThreadPoolBuildError|thread constructor failed")
MEMORY_HINT = (
    "try smaller updates (data.source_tokens, data.target_tokens), a smaller beam or --batch-size, "
    "or fewer --workers"
)
FILES_HINT = "raise the limit (`ulimit -n`), or try fewer --workers"
LEAST_ADDRESS_SPACE = 64 << 20  # with less, neither translation nor training worked
THREADS_HINT = (
    "raise the limit (`ulimit -u`; `ulimit -v` for their memory), or try fewer --workers and "
    "training.threads"
)


# Patterns of options in hints. `str(error)` shows options as arguments, except within commands.
COMMAND = re.compile(r"(`[^`]*`|\btransduce [a-z]+[^;\n]*)")
COPIES = re.compile("--from FOLDER")
FILES = re.compile(r"--(dev-|old-|test-)?source FILE --\1?target FILE")
SETTING = re.compile(r"--set ([a-z_]+\.[a-z0-9_]+)=([^\s,;)]+)")
COLUMNS = re.compile(r"--columns (\d+),(\d+)")
NAMED_COLUMNS = re.compile(r"--columns ([a-z][\w-]*),([a-z][\w-]*)")
LANGUAGES = re.compile(r"--languages ([a-z]{2,3})(?:-([a-z]{2,3}))?\b")
NAMED = re.compile(r"--(scale|metric|language|scheme|precision|penalty) ([a-z][a-z0-9-]*)")
OUTPUT = re.compile(r"(?<![\w-])-o ([^\s,;)]+)")
OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: ([A-Z0-9][^\s,;)]*))?")
ARGUMENTS = {  # name in an option -> name of the argument
    **dict.fromkeys(("pairs", "trees", "tags", "signals"), "train"),
    **{f"{split}_{kind}": split for split in ("dev", "old", "test") for kind in ("pairs", "trees")},
    "format": "form",
    "from": "parent",
    "metric": "metrics",
    "no_dev": "dev=False",
    "set": "settings",
}
LONGEST_MESSAGE, LONGEST_PATH = 4_000, 500  # characters


class TransduceError(Exception):
    """An error that the user can correct: what is wrong, where, and a hint on what to do."""

    exit_code = 2

    def __init__(
        self,
        fact: str,
        hint: str = "",
        *,
        file: Path | str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        path = None if file is None else cut_message(str(file), LONGEST_PATH)
        named = (("", path), ("line ", line), ("column ", column))
        location = ", ".join(f"{name}{value}" for name, value in named if value is not None)
        self.fact = cut_message(f"{location}: {fact}" if location else fact)
        self.hint = hint = cut_message(hint)
        super().__init__(self.fact + (f"\nhint: {hint}" if hint else ""))

    def __str__(self) -> str:
        """Return the fact and the hint, with arguments of Python in place of options."""
        return self.fact + (f"\nhint: {name_arguments(self.hint)}" if self.hint else "")


class InputError(TransduceError):
    """Raised when a call or an option is wrong, or an input cannot be used (exit code 2)."""


class FolderError(TransduceError):
    """Raised when a folder is damaged, of a wrong kind or of a newer version (exit code 3)."""

    exit_code = 3


class SaveError(TransduceError):
    """Raised when an output file or folder cannot be written (exit code 4)."""

    exit_code = 4


class NotFiniteError(TransduceError):
    """Raised when losses, weights or scores are NaN or infinite (exit code 5)."""

    exit_code = 5


class InUseError(TransduceError):
    """Raised when another process is using a folder (exit code 6)."""

    exit_code = 6


class LostProcessError(TransduceError):
    """Raised when one of several processes ended before the work was finished (exit code 7)."""

    exit_code = 7


class NotEnoughMemoryError(TransduceError):
    """Raised when memory, open files or threads ran out (exit code 8)."""

    exit_code = 8


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of Python, the system or torch says that memory ran out."""
    match error:
        case OSError():
            return error.errno == errno.ENOMEM
        case RuntimeError() | ImportError():
            return bool(OUT_OF_MEMORY.search(str(error)))
        case _:
            return isinstance(error, MemoryError)


def find_exhaustion(error: BaseException) -> NotEnoughMemoryError | None:
    """Return a NotEnoughMemoryError if `error` says memory, files or threads ran out, else None."""
    if is_out_of_memory(error):
        return NotEnoughMemoryError("there is not enough memory", MEMORY_HINT)
    number = error.errno if isinstance(error, OSError) else None
    is_import = isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error)
    if is_import or number in (errno.EMFILE, errno.ENFILE):
        return NotEnoughMemoryError("too many files are open", FILES_HINT)
    if number == errno.EAGAIN or NO_THREADS.search(str(error)):
        fact = "no more threads or processes can be started"
        return find_spent_address_space() or NotEnoughMemoryError(fact, THREADS_HINT)
    return None


def free_address_bytes() -> float:
    """Return how many bytes of address space `ulimit -v` still allows this process, or infinity."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return math.inf
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    except (OSError, ValueError):  # no Linux, or no file can be opened
        return math.inf
    return float(most - pages * resource.getpagesize())


def find_spent_address_space() -> NotEnoughMemoryError | None:
    """Return an error if `ulimit -v` leaves no room for threads and libraries, else None."""
    if free_address_bytes() >= LEAST_ADDRESS_SPACE:
        return None
    fact = f"there is not enough memory: `ulimit -v` leaves under {LEAST_ADDRESS_SPACE >> 20} MB"
    return NotEnoughMemoryError(fact, "raise this limit")


def name_arguments(message: str) -> str:
    """Return a message with options written as Python arguments: `last=2` for `--last 2`.

    `--set training.steps=10` becomes `settings={"training.steps": 10}`.
    """

    def name_setting(found: re.Match[str]) -> str:
        value = found[2].capitalize() if found[2] in ("true", "false") else found[2]
        is_word = value[0].islower() and value[0].isascii()
        shown = f'"{value}"' if is_word else value
        return f'settings={{"{found[1]}": {shown}}}'

    def name_files(found: re.Match[str]) -> str:
        return f"{found[1][:-1] if found[1] else 'train'}=(FILE, FILE)"

    def name_languages(found: re.Match[str]) -> str:
        codes = [f'"{code}"' for code in found.groups() if code]
        return f"languages=({', '.join(codes)}{',' * (len(codes) == 1)})"

    def name_word(found: re.Match[str]) -> str:
        return f'metrics=["{found[2]}"]' if found[1] == "metric" else f'{found[1]}="{found[2]}"'

    def name_option(found: re.Match[str]) -> str:
        option = found[1].replace("-", "_")
        name = ARGUMENTS.get(option, option)
        return f"{name}={found[2]}" if found[2] else name

    def name_all(part: str) -> str:
        for pattern, name in (
            (COPIES, "copies=FOLDER"),
            (FILES, name_files),
            (SETTING, name_setting),
            (LANGUAGES, name_languages),
            (COLUMNS, r"columns=(\1, \2)"),
            (NAMED_COLUMNS, r'columns=("\1", "\2")'),
            (NAMED, name_word),
            (OUTPUT, r'output="\1"'),
            (OPTION, name_option),
        ):
            part = pattern.sub(name, part)
        return part

    parts = COMMAND.split(message)  # every second part is a command, which stays
    return "".join(part if number % 2 else name_all(part) for number, part in enumerate(parts))


def cut_message(text: str, longest: int = LONGEST_MESSAGE) -> str:
    """Return a message; if over `longest` characters, only its start and end, joined by […]."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} […] {text[-half:]}"


def short_repr(value: object, longest: int = 60) -> str:
    """Return a value's repr, cut to `longest` characters; if repr() fails, a text with its type."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - repr() may raise any error; for a huge int, ValueError
        return f"{type(value).__name__} that cannot be printed"
    return shorten(text, longest)


def shorten(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; a longer one is cut and ends in …."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def another(name: str) -> str:
    """Return "another NAME", or "other NAME" if the name ends in s, such as "other models"."""
    return f"other {name}" if name.endswith("s") else f"another {name}"


def suggest_names(name: object, known: Iterable[str]) -> str:
    """Return a hint that lists the known names most similar to an unknown one, or else all."""
    name, names = str(name), sorted(known)
    longer = [one for one in names if one.endswith((f".{name}", f"/{name}"))]
    close = longer or difflib.get_close_matches(name, names)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + ", ".join(names)
