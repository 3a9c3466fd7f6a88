"""Write the outputs of input lines; show progress and warnings."""

import io
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, TypeVar, final

from transduce.cli import display
from transduce.durable.files import atomic_file
from transduce.durable.folder import resolve_output
from transduce.text.files import read_short_lines
from transduce.text.words import tokenise as split

if TYPE_CHECKING:
    from transduce.inference.lines import LineWarning
    from transduce.inference.outputs import Output

SHOWN = 10  # the most warnings of a kind that are printed about a file; there may be millions
Found = TypeVar("Found")  # the result of a line, such as its outputs
# Matches the end of a line that is not tokenised. A match may begin only where a word does:
# trying every letter of a very long word would take time that grows with its length squared.
RAW_END = re.compile(r"(?<![^\W\d_])[^\W\d_]{3,}+[.?!]\s*$")
TREE = re.compile(r"\s*\(\S*\s*\(")  # a bracket in a bracket
EFFECTS = {  # kind of warning -> words on one line, words on several, end of the sentence
    "too long": ("is longer than the model takes", "are longer than the model takes", ""),
    "lost": (*["lost something in translation"] * 2, "see the warnings above"),
    "repaired": ("has a malformed output", "have malformed outputs", "repaired"),
    "unknown label": (
        "has a label that training lacked",
        "have labels that training lacked",
        "not scored (nan)",
    ),
}


@final
@dataclass
class WarningPrinter:
    """A callable that counts warnings about lines by kind, and prints the first `most` of each."""

    counts: Counter[str] = field(default_factory=Counter)  # number of warnings by kind
    most: int = SHOWN  # warnings of a kind that are printed; the others are only counted

    def __call__(self, warning: "LineWarning") -> None:
        if self.counts[warning.kind] < self.most:
            display.print_message(f"warning: {warning}")
        self.counts[warning.kind] += 1

    def print_count(self, too_long: str) -> None:
        """Print the counts of warnings by kind; `too_long` ends the sentence about long lines."""
        for kind, (one, several, end) in EFFECTS.items():
            if count := self.counts[kind]:
                lines = f"1 line {one}" if count == 1 else f"{count:,} lines {several}"
                first = f"; only the first {self.most} are named" if count > self.most else ""
                display.print_message(f"warning: {lines}: {end or too_long}{first}")


@final
@dataclass
class TextCounter:
    """Counts the lines that have text, of the input and of the best outputs."""

    sources: int = 0
    outputs: int = 0

    def read(self, lines: Iterator[str]) -> Iterator[str]:
        """Yield input lines unchanged, and count them."""
        for line in lines:
            self.sources += bool(line.strip())
            yield line

    def write(self, found: Iterator[list["Output"]]) -> Iterator[list["Output"]]:
        """Yield each line's outputs unchanged, and count them."""
        for outputs in found:
            self.outputs += bool(outputs[0].text)
            yield outputs

    def warn_if_empty(self) -> None:
        """Print a warning if two lines or more had text and no output has."""
        if self.sources > 1 and not self.outputs:
            fact = "every output is empty; has the model been trained long enough?"
            display.print_message(f"warning: {fact}")


def write_lines(
    opened: AbstractContextManager[IO[str]],
    found: Iterator[Found],
    format_line: Callable[[int, Found], str],
    verb: str,
    *,
    first: int = 1,
    flush: bool = False,
) -> None:
    """Write `format_line(number, result)` of each result to `opened`; show "VERB: N lines".

    With `flush` each line is passed on before the next result is computed. `first` is the number
    of the first line. The count of lines is shown on a terminal unless `opened` yields standard
    output.
    """
    with opened as file:
        shown = found if file is sys.stdout else show_line_count(found, verb)
        for number, one in enumerate(shown, start=first):
            file.write(format_line(number, one))
            if flush:
                file.flush()


def show_line_count(found: Iterator[Found], verb: str) -> Iterator[Found]:
    """Yield each result unchanged; meanwhile show "VERB: N lines" on a terminal."""
    with display.show_status(f"{verb}: reading") as show:
        for number, one in enumerate(found, start=1):
            show(f"{verb}: {number:,} lines")
            yield one


@contextmanager
def open_output(output: Path | None) -> Iterator[IO[str]]:
    """In a with block, yield standard output (for None or -), or a file to write atomically."""
    if output is None or means_standard_output(output):
        yield sys.stdout
        return
    with as_text(atomic_file(resolve_output(output))) as text:
        yield text


def means_standard_output(path: Path) -> bool:
    """Return whether a path is "-", or a link to where standard output goes, such as /dev/stdout.

    If standard output is a file, replacing the file would lose what other programs write there.
    """
    with suppress(OSError):
        if path.is_symlink():
            return os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    return str(path) == "-"


@contextmanager
def as_text(opened: AbstractContextManager[BinaryIO]) -> Iterator[IO[str]]:
    """In a with block, open a binary file, and yield a stream that writes text to it in UTF-8."""
    with opened as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


def format_outputs(line_number: int, outputs: "list[Output]", *, nbest: int, as_json: bool) -> str:
    """Format the outputs of line `line_number`, from 1, as text, n-best rows or a JSON line."""
    if as_json:
        best = [one.as_json() for one in outputs]
        return json.dumps({"line": line_number, "outputs": best}, ensure_ascii=False) + "\n"
    texts = [
        one.text if one.alignment is None else f"{one.text} ||| {one.alignment}" for one in outputs
    ]
    if nbest == 1:
        return texts[0] + "\n"
    return "".join(
        f"{line_number}\t{one.score:.4f}\t{one.log_prob:.4f}\t{text}\n"
        for one, text in zip(outputs, texts, strict=True)
    )


def describe_malformed_line(line: str, *, tokenise: bool) -> str:
    """Return why a line does not look like words separated by spaces, or "" if it does.

    Raw text that is about to be split (`tokenise`) may end in a full stop.
    """
    if "\t" in line:
        return "has a tab, as in a file of labels, and each line is taken for a sentence"
    if TREE.match(line):
        return "begins like a tree, and its brackets are taken for words"
    if not tokenise and (raw := RAW_END.search(line)):
        return f"ends in {raw[0]!r}, and words are separated by spaces; --tokenise splits raw text"
    return ""


def read_words(file: Path, *, tokenise: bool) -> Iterator[str]:
    """Yield each line as one string of words separated by spaces; `tokenise` splits raw text first.

    Prints a note about the first line that seems to be no sentence of such words.
    """
    is_told = False
    for number, line in enumerate(read_short_lines(file), start=1):
        if not is_told and (doubt := describe_malformed_line(line, tokenise=tokenise)):
            display.print_note(f"note: line {number} {doubt}")
            is_told = True
        yield " ".join(split(line)) if tokenise else line
