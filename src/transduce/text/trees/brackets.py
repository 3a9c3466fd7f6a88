"""Trees as Penn-style brackets: read from one line or many, written in one line or indented.

Only ASCII whitespace separates words, because treebanks have words with no-break and thin spaces.
Whitespace has no other meaning; brackets determine where a tree ends. Trees are read as the file
has them, with the outer bracket, which often has no label, and with traces as words. They are
written on one line as EVALB reads them, or with a line for each constituent.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.errors import InputError
from transduce.text.files import display_name, read_lines
from transduce.text.trees.tree import SymbolKind, Tree
from transduce.text.words import BLANKS, escape_brackets

OnMalformed = Callable[[InputError], None]
ATOM = rf"[^(){BLANKS}]+"
# A leaf (TAG WORD) within one line is matched as one token, which is faster than four tokens.
TOKEN = re.compile(rf"\(({ATOM})[{BLANKS}]+({ATOM})[{BLANKS}]*\)|[()]|{ATOM}")
# Bounds memory: without it, a file with one `)` missing would be read whole before the error.
MAX_SIZE = 1_000_000  # most words plus constituents of a tree


def read_trees(path: Path | str, *, on_malformed: OnMalformed | None = None) -> Iterator[Tree]:
    """Yield the trees in a file of brackets; errors go to `on_malformed` if set, else are raised.

    The file may be packed (.gz, .xz, .zst), and "-" is standard input. Malformed brackets raise
    InputError with line and column. If `on_malformed` is given, it is called with the error
    instead, the tree is left out, and reading goes on at the next line that starts with a bracket;
    only the error for a missing ) is still raised, since its location is unknown.
    """
    return parse_trees(read_lines(path), file=display_name(path), on_malformed=on_malformed)


def parse_trees(
    lines: Iterable[str],
    *,
    file: str | None = None,
    on_malformed: OnMalformed | None = None,
    max_size: int = MAX_SIZE,
) -> Iterator[Tree]:
    """Yield the trees in lines of brackets; errors go to `on_malformed` if set, else are raised.

    The errors name `file`. The docstring of `read_trees` explains `on_malformed`. A tree that is
    open after more than `max_size` words and constituents raises the error for a missing ).
    """
    parser = TreeParser(file)
    for line in lines:
        try:
            yield from parser.feed(line)
        except InputError as error:
            if on_malformed is None:
                raise
            on_malformed(error)
            parser.skip_tree()
        if len(parser.words) + len(parser.labels) > max_size:
            parser.require_end()
    parser.require_end()


def parse_tree(text: str) -> Tree:
    """Return the tree in a bracketed text; InputError unless the text is one well-formed tree."""
    trees = list(parse_trees(text.split("\n")))
    if len(trees) != 1:
        raise InputError(f"{len(trees) or 'no'} trees in the text, not one")
    return trees[0]


@dataclass(slots=True)
class Bracket:
    """An opening bracket that is not closed yet, with its location and the text read after it."""

    line: int
    column: int
    label: str | None = None
    word: str | None = None
    constituent: int | None = None  # the index of its constituent, once it holds a bracket


@final
class TreeParser:
    """A parser of bracketed lines with a stack; its errors name the file, line and column."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.line = self.column = 0
        self.brackets = list[Bracket]()  # the open brackets, outermost first
        self.suspect_line = 0  # the first line that starts with ( inside of an open tree
        self.is_skipping = False
        self.start_tree()

    def start_tree(self) -> None:
        """Empty the lists of words, tags and constituents for the next tree."""
        self.words, self.tags = list[str](), list[str]()
        self.labels, self.starts, self.ends = list[str](), list[int](), list[int]()

    def feed(self, line: str) -> Iterator[Tree]:
        """Parse the next line and yield the trees that end in it; InputError if malformed."""
        self.line += 1
        if self.is_skipping and not line.startswith("("):
            return
        self.is_skipping = False
        if self.brackets and line.startswith("("):
            self.suspect_line = self.suspect_line or self.line
        for match in TOKEN.finditer(line):
            self.column = match.start() + 1
            token = match.group()
            if match.lastindex:
                self._add_leaf(*match.groups())
            elif token == "(":
                self._open()
            elif token == ")":
                self._close()
                if not self.brackets:
                    spans = tuple(self.labels), tuple(self.starts), tuple(self.ends)
                    yield Tree(tuple(self.words), tuple(self.tags), *spans)
                    self.start_tree()
            else:
                self._read_text(token)

    def _open(self) -> None:
        """Push the bracket that opens at the current line and column."""
        if self.brackets:
            self._require_constituent()
        else:
            self.suspect_line = 0
        self.brackets.append(Bracket(self.line, self.column))

    def skip_tree(self) -> None:
        """Discard the open tree and all lines before the next line that starts with a bracket."""
        self.brackets.clear()
        self.start_tree()
        self.is_skipping = True

    def require_end(self) -> None:
        """Raise InputError if a bracket is still open, with the location of the outermost one."""
        if not self.brackets:
            return
        first, count = self.brackets[0], len(self.brackets)
        fact = "this bracket is not closed" + (f", nor {count - 1} inside it" if count > 1 else "")
        hint = "add the missing )"
        if self.suspect_line:
            hint += f"; look before line {self.suspect_line}, where the next tree seems to start"
        raise InputError(fact, hint, file=self.file, line=first.line, column=first.column)

    def _add_leaf(self, tag: str, word: str) -> None:
        """Add a leaf (TAG WORD) to the innermost open bracket; InputError if none is open."""
        if not self.brackets:
            raise self._error("this leaf is in no constituent", f"write (TOP ({tag} {word}))")
        self._require_constituent()
        self.words.append(word)
        self.tags.append(sys.intern(tag))

    def _require_constituent(self) -> None:
        """Make the innermost bracket a constituent; InputError if it has a word or no label."""
        bracket = self.brackets[-1]
        if bracket.constituent is not None:
            return
        if bracket.word is not None:
            raise self._error(MIXED, f"the bracket holds the word {bracket.word} already")
        if bracket.label is None and len(self.brackets) > 1:
            raise self._error(
                "the bracket before this one has no label",
                "only the outermost bracket of a tree may lack one; is a ) missing before it?",
            )
        bracket.constituent = len(self.labels)
        self.labels.append(sys.intern(bracket.label or ""))
        self.starts.append(len(self.words))
        self.ends.append(-1)

    def _read_text(self, text: str) -> None:
        """Store a text as the innermost bracket's label, or as its word if the label is there."""
        if not self.brackets:
            raise self._error(f"text outside of brackets: {text[:60]}", "is this a file of trees?")
        bracket = self.brackets[-1]
        if bracket.constituent is not None:
            raise self._error(MIXED, f"give the word {text[:60]} a bracket with its tag")
        if bracket.label is None:
            bracket.label = text
        elif bracket.word is None:
            bracket.word = text
        else:
            raise self._error(
                "several words in one leaf", f"a leaf is one tag and one word; second: {text[:60]}"
            )

    def _close(self) -> None:
        """Close the innermost bracket, as a leaf or a constituent; refuse an empty one."""
        if not self.brackets:
            raise self._error("a ) that closes no bracket", "remove it, or add the missing (")
        bracket = self.brackets.pop()
        if bracket.constituent is not None:
            self.ends[bracket.constituent] = len(self.words)
        elif bracket.word is None:
            fact, hint = "an empty constituent", "a bracket holds a word or brackets"
            raise InputError(fact, hint, file=self.file, line=bracket.line, column=bracket.column)
        else:
            self._add_leaf(bracket.label or "", bracket.word)

    def _error(self, fact: str, hint: str) -> InputError:
        """Return the error for the current line and column."""
        return InputError(fact, hint, file=self.file, line=self.line, column=self.column)


MIXED = "a word and a bracket side by side in one bracket"


BLANK = re.compile(f"[{BLANKS}]")
INDENT = 2  # spaces per nesting level
# Limits the size of the text: full indentation of 10,000 levels would take 100 MB of spaces.
MAX_INDENT = 80


def format_tree(tree: Tree, *, outer: str = "TOP") -> str:
    """Return a tree as one line of brackets with label `outer` around it: (TOP (S (NN dog))).

    No outer bracket is written if `outer` is "" or already the root's label. A ( or ) in a word is
    written -LRB- or -RRB-.
    """
    symbols = {
        SymbolKind.OPEN: [f" ({format_atom(label)}" for label in tree.labels],
        SymbolKind.WORD: [f" {format_leaf(tree, index)}" for index in range(len(tree.words))],
        SymbolKind.CLOSE: [")"] * len(tree.labels),
    }
    brackets = "".join(symbols[kind][index] for kind, index in tree.walk())[1:]
    return f"({outer} {brackets})" if outer and tree.labels[:1] != (outer,) else brackets


def format_indented(tree: Tree) -> str:
    """Return a tree as indented lines of brackets; each constituent starts a new line."""
    level, lines = 0, list[str]()
    previous = SymbolKind.CLOSE
    for step in tree.walk():
        if step.kind is SymbolKind.CLOSE:
            lines[-1] += ")"
            level -= 1
        elif step.kind is SymbolKind.OPEN:
            lines.append(f"{indent(level)}({format_atom(tree.labels[step.number])}")
            level += 1
        elif previous is SymbolKind.CLOSE:
            lines.append(indent(level) + format_leaf(tree, step.number))
        else:
            lines[-1] += f" {format_leaf(tree, step.number)}"
        previous = step.kind
    return "\n".join(lines)


def indent(level: int) -> str:
    """Return the indentation of a nesting level, at most `MAX_INDENT` spaces."""
    return " " * min(INDENT * level, MAX_INDENT)


def format_leaf(tree: Tree, index: int) -> str:
    """Return word `index` and its tag as a leaf (TAG WORD); raise InputError if one is empty."""
    tag, word = tree.tags[index], tree.words[index]
    if not tag or not word:
        raise InputError(f"word {index + 1} of a tree or its tag is empty: ({tag} {word})")
    return f"({format_atom(tag)} {format_atom(word)})"


def format_atom(text: str) -> str:
    """Return a word, tag or label with ( ) as -LRB- -RRB-; InputError if it has whitespace."""
    if BLANK.search(text):
        raise InputError(f"a word, tag or label of a tree holds whitespace: {text[:60]!r}")
    return escape_brackets(text)
