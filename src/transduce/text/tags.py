"""Tagged sentences: reading and writing of files with a token, a tab and a label on each line.

Blank lines separate sentences. In a file without blank lines a sentence ends after each token `.`.
Tagged sentences can be derived from trees, with part-of-speech tags or base noun phrases as labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import final

from transduce.errors import InputError
from transduce.text.files import display_name, read_lines, split_columns
from transduce.text.trees.tree import Constituent, Tree

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
Row = tuple[str, str]  # a token and its label
BLANK = "", ""  # the row of a blank line


@final
@dataclass(frozen=True)
class TaggedSentence:
    """A sentence's tokens and their labels."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]


def read_tagged(path: Path | str) -> Iterator[TaggedSentence]:
    """Yield a tagged file's sentences, split at blank lines or else full stops; InputError if bad.

    A file without blank lines is read into memory as a whole, because only at its end is it known
    to have none.
    """
    rows, first = read_rows(path), list[Row]()
    for row in rows:
        first.append(row)
        if row == BLANK:
            break
    else:
        ends = ([row, BLANK] if row[0] == SENTENCE_END else [row] for row in first)
        first = list(chain.from_iterable(ends))
    for is_blank, sentence in groupby(chain(first, rows), key=lambda row: row == BLANK):
        if not is_blank:
            yield TaggedSentence(*zip(*sentence, strict=True))


def read_rows(path: Path | str) -> Iterator[Row]:
    """Yield a tagged file's rows; raise InputError at a line not blank or token<TAB>label."""
    name = display_name(path)
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip(" "):
            yield BLANK
            continue
        token, label = split_columns(line, HINT, name, number)
        for kind, value in (("token", token), ("label", label)):
            if not value:
                raise InputError(f"an empty {kind}", HINT, file=name, line=number)
            if not BLANKS.isdisjoint(value):
                fact = f"the {kind} {value!r} contains whitespace"
                raise InputError(fact, HINT, file=name, line=number)
        yield token, label


def format_tagged(sentence: TaggedSentence) -> str:
    """Return a tagged sentence as lines of a token, a tab and its label, then a blank line."""
    rows = zip(sentence.tokens, sentence.labels, strict=True)
    return "".join(f"{token}\t{label}\n" for token, label in rows) + "\n"


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
    phrases = [one for one in tree.constituents if one.label == NOUN_PHRASE]  # in preorder
    following = [*(one.start for one in phrases[1:]), len(tree.words)]
    return [one for one, start in zip(phrases, following, strict=False) if start >= one.end]
