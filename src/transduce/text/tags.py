r"""Tagged sentences: reading and writing of files with `token<TAB>label` on each line.

Blank lines separate sentences. In a file without blank lines a sentence ends after each token `.`.
Each sentence object stores its line ends and the blank lines around it, so that the sentences of a
file, formatted one after the other, give the same bytes as the file. Two things are not stored: a
byte-order mark, and line ends that change from `\n` to `\r\n` inside one sentence.

Tagged sentences can be derived from trees, with part-of-speech tags or base noun phrases as labels.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import final

from transduce.errors import InputError
from transduce.text.files import decode_line, display_name, read_byte_lines, split_columns
from transduce.text.trees.tree import Constituent, SymbolKind, Tree

SENTENCE_END = "."  # the token that ends a sentence in a file without blank lines
# Whitespace refused in tokens and labels. Other spaces are allowed: treebanks have U+00A0 in words.
BLANKS = frozenset(" \r\v\f")
OUTSIDE = "O"  # the label of a token in no span
SPAN_PREFIXES = ("B", "I", "E", "S")  # E: the last token of a span; S: its only one
NO_TYPE = "_"  # the type of spans with the plain labels B and I
NO_SPANS = (  # the hint for labels without a span prefix, such as NOUN
    "labels without B and I: `score --spans --scheme raw`, `train --set data.label_scheme=raw`"
)
HINT = "each line is a token, one tab and its label; blank lines separate the sentences"


@final
@dataclass(frozen=True)
class Layout:
    """The line ends and blank lines of a tagged sentence, by default one blank line after it."""

    before: str = ""  # blank lines before the first token of the file
    newline: str = "\n"  # between two tokens
    after: str = "\n\n"  # after the last token: the end of its line, and blank lines


@final
@dataclass(frozen=True)
class TaggedSentence:
    """A sentence's tokens and labels, and the line ends and blank lines around them in its file."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    layout: Layout = field(default=Layout(), compare=False)


@final
@dataclass(frozen=True)
class Row:
    """One line of a tagged file: a token, its label (both "" for a blank line) and the line end."""

    token: str
    label: str
    newline: str  # for a blank line also the spaces before the line end


def read_tagged(path: Path | str) -> Iterator[TaggedSentence]:
    """Yield a tagged file's sentences, split at blank lines or else full stops; InputError if bad.

    A file without blank lines is read into memory as a whole, because only at its end is it known
    to have none.
    """
    rows = read_rows(path)
    first = list[Row]()
    for row in rows:
        first.append(row)
        if not row.token:
            return split_at_blank_lines(chain(first, rows))
    return split_at_full_stops(first)


def read_rows(path: Path | str) -> Iterator[Row]:
    """Yield a tagged file's lines; raise InputError at one that is not blank or token<TAB>label."""
    name = display_name(path)
    for number, raw in enumerate(read_byte_lines(path), start=1):
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
                fact = f"the {kind} {value!r} contains whitespace"
                raise InputError(fact, HINT, file=name, line=number)
        yield Row(token, label, newline)


def split_at_blank_lines(rows: Iterable[Row]) -> Iterator[TaggedSentence]:
    """Group rows into tagged sentences, which are separated by blank lines."""
    before, sentence = "", list[Row]()
    for is_blank, block in groupby(rows, key=lambda row: not row.token):
        if not is_blank:
            sentence = list(block)
            continue
        blanks = "".join(row.newline for row in block)
        if sentence:
            yield build_sentence(sentence, before, blanks)
            before, sentence = "", []
        else:
            before = blanks
    if sentence:
        yield build_sentence(sentence, before)


def split_at_full_stops(rows: Iterable[Row]) -> Iterator[TaggedSentence]:
    """Group rows without blank lines into tagged sentences; each token `.` ends a sentence."""
    sentence = list[Row]()
    for row in rows:
        sentence.append(row)
        if row.token == SENTENCE_END:
            yield build_sentence(sentence)
            sentence = []
    if sentence:
        yield build_sentence(sentence)


def build_sentence(rows: Sequence[Row], before: str = "", after: str = "") -> TaggedSentence:
    """Build a tagged sentence from its tokens' rows and the blank lines before and after them."""
    layout = Layout(before, rows[0].newline or "\n", rows[-1].newline + after)
    return TaggedSentence(
        tuple(row.token for row in rows), tuple(row.label for row in rows), layout
    )


def format_tagged(sentence: TaggedSentence) -> str:
    """Return a tagged sentence as text: lines of a token, a tab and its label, then blank lines."""
    layout = sentence.layout
    pairs = zip(sentence.tokens, sentence.labels, strict=True)
    lines = layout.newline.join(f"{token}\t{label}" for token, label in pairs)
    return f"{layout.before}{lines}{layout.after}"


NOUN_PHRASE = "NP"


def tag_parts_of_speech(tree: Tree) -> TaggedSentence:
    """Return the words of a cleaned tree, each labelled with its part-of-speech tag."""
    return TaggedSentence(tree.words, tree.tags)


def tag_base_noun_phrases(tree: Tree) -> TaggedSentence:
    """Return the words of a cleaned tree, labelled B-NP or I-NP in base noun phrases, else O.

    In (NP (NP the role) (PP of (NP BRCA2))), "the role" and "BRCA2" are base noun phrases.
    """
    labels = [OUTSIDE] * len(tree.words)
    for _, start, end in find_base_noun_phrases(tree):
        labels[start:end] = [f"B-{NOUN_PHRASE}", *[f"I-{NOUN_PHRASE}"] * (end - start - 1)]
    return TaggedSentence(tree.words, tuple(labels))


def find_base_noun_phrases(tree: Tree) -> list[Constituent]:
    """Return the NP constituents that contain no other NP, from left to right."""
    found, latest = list[Constituent](), -1
    constituents = tree.constituents
    for kind, index in tree.walk():
        if kind is SymbolKind.WORD or constituents[index].label != NOUN_PHRASE:
            continue
        if kind is SymbolKind.OPEN:
            latest = index
        elif index == latest:  # the closed NP contains no other NP
            found.append(constituents[index])
    return found
