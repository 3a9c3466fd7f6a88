"""A line of brackets as EVALB reads it: its words with their tags, and its constituents.

EVALB accepts nearly everything: several trees in a line, or none, and any label or none. A word
whose tag is a DELETE_LABEL is left out; spans count the remaining words only. EVALB limits the
lengths of lines, sentences, labels and words; this reader does not.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, final

from transduce.scores.brackets.parameters import BracketParameters
from transduce.text.words import BLANKS

BLANK, OTHER = f"[{BLANKS}]", f"[^(){BLANKS}]"
TERMINAL = rf"\((?P<tag>{OTHER}*+){BLANK}++(?P<word>{OTHER}*+)\)"
TERMINALS = re.compile(TERMINAL)
TOKENS = re.compile(
    rf"(?P<terminal>{TERMINAL})|(?P<opening>\((?P<label>{OTHER}*+))|(?P<closing>\))"
    rf"|(?P<stray>{OTHER}++)"
)
WORD_AND_MORE = re.compile(rf"{BLANK}++{OTHER}*+(?:\Z|(?={BLANK}))")
QUOTES = ("'", '"', "/")
UNCLOSED = -1  # the end of a constituent without a closing bracket

MORE_THAN_TWO = "More than two elements in a bracket"
STRAY_WORD = "Reading sentence"
TOO_MANY_OPEN = "Bracketing is unbalanced (too many open bracket)"
TOO_MANY_CLOSED = "Bracketing unbalance (too many close bracket)"


class Terminal(NamedTuple):
    """A word with its part-of-speech tag."""

    tag: str
    word: str


class Constituent(NamedTuple):
    """A labelled bracket over the words `start` to `end` - 1."""

    label: str
    start: int
    end: int


class Quote(NamedTuple):
    """A quotation mark whose tag is one of EVALB's QUOTE_LABELs, and its position in the line."""

    terminal: Terminal
    position: int  # index of the mark among the words, or of the next word if the mark is deleted
    opened: int  # number of constituents that were opened before the mark
    enclosing: tuple[int, ...]  # indices of the constituents that are open at the mark


@final
@dataclass(frozen=True)
class BracketLine:
    """The tree of a line as EVALB reads it: words, constituents, quotation marks and messages."""

    words: tuple[Terminal, ...]
    constituents: tuple[Constituent, ...]  # in the order of their opening brackets
    quotes: tuple[Quote, ...]
    length: int  # number of words and punctuation marks, compared with the cut-off
    faults: tuple[str, ...]  # EVALB's messages about the line

    @property
    def hangs_evalb(self) -> bool:
        """Whether EVALB would loop forever at this line, because a word is outside of a leaf."""
        return self.faults[-1:] == (STRAY_WORD,)


def read_bracket_line(line: str, parameters: BracketParameters) -> BracketLine:
    """Read a line of brackets by EVALB's tolerant rules; faults are listed, never raised."""
    line += "\n"  # EVALB reads the newline as part of the line
    reader = LineReader(parameters)
    for token in TOKENS.finditer(line):
        match token.lastgroup:
            case "terminal":
                reader.add_terminal(Terminal(token["tag"], token["word"]))
            case "opening":
                if WORD_AND_MORE.match(line, token.end()):
                    reader.faults.append(MORE_THAN_TWO)
                reader.open(token["label"])
            case "closing":
                reader.close()
            case _:
                reader.faults.append(STRAY_WORD)
                break
    return reader.finish()


@final
@dataclass
class LineReader:
    """The state of reading one line: the words and constituents so far, and the open brackets."""

    parameters: BracketParameters
    words: list[Terminal] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    open_constituents: list[int] = field(default_factory=list)
    depth: int = 0  # negative after too many closing brackets
    length: int = 0

    def add_terminal(self, terminal: Terminal) -> None:
        """Add a leaf's word to the line, unless the parameters delete words with its tag.

        A deleted word may still count in the length; quotation marks are also listed in `quotes`.
        """
        if terminal.tag not in self.parameters.labels_without_length:
            self.length += 1
        if terminal.word in QUOTES and terminal.tag in self.parameters.quote_labels:
            enclosing = tuple(self.open_constituents)
            self.quotes.append(Quote(terminal, len(self.words), len(self.labels), enclosing))
        if terminal.tag not in self.parameters.deleted_labels:
            self.words.append(terminal)

    def open(self, label: str) -> None:
        """Open a constituent with this label before the next word."""
        self.open_constituents.append(len(self.labels))
        self.labels.append(label)
        self.starts.append(len(self.words))
        self.ends.append(UNCLOSED)
        self.depth += 1

    def close(self) -> None:
        """Close the last open constituent; like EVALB, accept one closing bracket too many."""
        if self.open_constituents:
            self.ends[self.open_constituents.pop()] = len(self.words)
        if self.depth < 0:
            self.faults.append(TOO_MANY_CLOSED)
        self.depth -= 1

    def finish(self) -> BracketLine:
        """Return the line that was read; a constituent never closed has the end -1 (UNCLOSED)."""
        stopped = self.faults[-1:] == [STRAY_WORD]
        if self.depth and not stopped:
            self.faults.append(TOO_MANY_OPEN)
        spans = zip(self.labels, self.starts, self.ends, strict=True)
        return BracketLine(
            tuple(self.words),
            tuple(Constituent(*span) for span in spans),
            tuple(self.quotes),
            self.length,
            tuple(self.faults),
        )
