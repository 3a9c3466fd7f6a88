r"""Tagged text: files with `token<TAB>label` on each line, read and written by sentences.

Blank lines separate sentences. In a file without blank lines a sentence ends after each token `.`.
Each sentence object stores its line ends and the blank lines around it, so that the sentences of a
file, formatted one after the other, give the same bytes as the file. Two things are not stored: a
byte-order mark, and line ends that change from `\n` to `\r\n` inside one sentence.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import final

from transduce.errors import InputError
from transduce.text.files import decode_line, display_name, read_file_bytes, split_columns

SENTENCE_END = "."  # the token that ends a sentence in a file without blank lines
# No Unicode blanks: treebanks have words that contain U+00A0 and U+2009.
BLANKS = frozenset(" \r\v\f")
HINT = "each line is a token, one tab and its label; blank lines separate the sentences"


@final
@dataclass(frozen=True)
class Layout:
    """The white space around a tagged sentence in its file, by default a blank line after it."""

    before: str = ""  # blank lines before the first token of the file
    newline: str = "\n"  # between two tokens
    after: str = "\n\n"  # after the last token: the end of its line, and blank lines


@final
@dataclass(frozen=True)
class TaggedSentence:
    """The tokens of a sentence, one label for each, and their layout in the file."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    layout: Layout = field(default=Layout(), compare=False)


@final
@dataclass(frozen=True)
class Row:
    """One line of a tagged file; a blank line has an empty token and label."""

    token: str
    label: str
    newline: str  # for a blank line also the blanks before the line end

    @property
    def is_blank(self) -> bool:
        """Whether the line has no token."""
        return not self.token


def read_tagged(path: Path | str) -> Iterator[TaggedSentence]:
    """Yield the sentences of a file with a token, a tab and its label on each line.

    A file is read into memory as a whole only if it has no blank line: whether blank lines or full
    stops separate its sentences is then known at its last line only.
    """
    rows = read_rows(path)
    first = list(take_through_blank_line(rows))
    if first and first[-1].is_blank:
        return split_at_blank_lines(chain(first, rows))
    return split_at_full_stops(first)


def read_rows(path: Path | str) -> Iterator[Row]:
    """Yield the lines of a tagged file as rows; raise InputError for a line of another form."""
    name = display_name(path)
    for number, raw in enumerate(read_file_bytes(path), start=1):
        line = decode_line(raw, name, number)
        newline = raw[len(line.encode()) :].decode()
        if not line.strip(" "):
            yield Row("", "", line + newline)
            continue
        token, label = split_columns(line, HINT, name, number)
        for kind, value in (("token", token), ("label", label)):
            if not value:
                raise InputError(f"an empty {kind}", HINT, file=name, line=number)
            if not BLANKS.isdisjoint(value):
                fact = f"the {kind} {value!r} contains a blank"
                raise InputError(fact, HINT, file=name, line=number)
        yield Row(token, label, newline)


def take_through_blank_line(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows up to and including the first blank line; all rows if no line is blank."""
    for row in rows:
        yield row
        if row.is_blank:
            return


def split_at_blank_lines(rows: Iterable[Row]) -> Iterator[TaggedSentence]:
    """Yield tagged sentences from the rows of a file whose sentences blank lines separate."""
    before, tokens = "", list[Row]()
    for is_blank, block in groupby(rows, key=lambda row: row.is_blank):
        if not is_blank:
            tokens = list(block)
            continue
        blanks = "".join(row.newline for row in block)
        if tokens:
            yield build_sentence(tokens, before, blanks)
            before, tokens = "", []
        else:
            before = blanks
    if tokens:
        yield build_sentence(tokens, before)


def split_at_full_stops(rows: Iterable[Row]) -> Iterator[TaggedSentence]:
    """Yield tagged sentences from rows without blank lines; a token `.` ends each sentence."""
    tokens = list[Row]()
    for row in rows:
        tokens.append(row)
        if row.token == SENTENCE_END:
            yield build_sentence(tokens)
            tokens = []
    if tokens:
        yield build_sentence(tokens)


def build_sentence(rows: Sequence[Row], before: str = "", blanks: str = "") -> TaggedSentence:
    """Build a tagged sentence from the rows of its tokens and the blank lines around them."""
    layout = Layout(before, rows[0].newline or "\n", rows[-1].newline + blanks)
    return TaggedSentence(
        tuple(row.token for row in rows), tuple(row.label for row in rows), layout
    )


def format_tagged(sentence: TaggedSentence) -> str:
    """Return a tagged sentence as text: lines of a token, a tab and its label, then blank lines."""
    layout = sentence.layout
    pairs = zip(sentence.tokens, sentence.labels, strict=True)
    lines = layout.newline.join(f"{token}\t{label}" for token, label in pairs)
    return f"{layout.before}{lines}{layout.after}"
