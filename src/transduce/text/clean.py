"""Normalisation of text, and cleaning of training pairs by filters, with a report of drops."""

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, final

from transduce.errors import shorten
from transduce.settings import Data

# `normalise` removes control characters that are not whitespace (such as NUL), and
# characters that are not visible: soft hyphen, zero-width space, zero-width no-break space (the
# byte-order mark), word joiner, and the marks, embeddings, overrides and isolates of text
# direction, which change only the layout and are inconsistent in corpora. It keeps variation
# selectors, private-use characters, and the zero-width joiner and non-joiner (U+200C, U+200D),
# which change Persian and Indic words and join emoji.
INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    "\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
SURROGATE = re.compile("[\ud800-\udfff]")
LONG_RUN = re.compile("[\u0300-\U0010ffff]{31,}")  # combining marks begin at U+0300
MAX_MARKS = 30  # consecutive combining marks: the limit of Unicode's stream-safe form (UAX 15)
SAMPLE_LENGTH = 80  # the report cuts each side of a sample pair to this many characters
HELD_OUT = "held out for validation"
SAMPLES = 3  # dropped pairs that the report shows for each reason


def normalise(text: str) -> str:
    """Return text in NFC, without invisible characters, with single spaces and none at its ends.

    Each run of Unicode whitespace, such as U+00A0, U+0085, U+2028 and the tab, becomes one space.
    An unpaired surrogate, which UTF-8 cannot encode, becomes U+FFFD. Of more than 30 combining
    marks in a row the first 30 are kept. Normalising a normalised text changes nothing.
    """
    text = INVISIBLE.sub("", text)
    if not text.isascii():
        text = SURROGATE.sub("\ufffd", text)
        # Marks are limited before NFC, which sorts them in quadratic time, and again after it,
        # because NFC may decompose one mark into two.
        text = unicodedata.normalize("NFC", LONG_RUN.sub(limit_combining_marks, text))
        text = LONG_RUN.sub(limit_combining_marks, text)
    return " ".join(text.split())


def limit_combining_marks(match: re.Match[str]) -> str:
    """Return the matched text without combining marks after the first 30 in a row."""
    kept, marks = [], 0
    for character in match.group():
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


@final
@dataclass
class DroppedPairs:
    """The number of pairs dropped for one reason, and up to three of these pairs as samples."""

    count: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, line: int, source: str, target: str, *, is_fault: bool = True) -> None:
        """Count a dropped pair; if `is_fault`, also store it as one of up to three samples."""
        self.count += 1
        if is_fault and len(self.samples) < SAMPLES:
            sides = {"source": source, "target": target}
            shortened = {name: shorten(text, SAMPLE_LENGTH) for name, text in sides.items()}
            self.samples.append({"line": line, **shortened})


@final
@dataclass
class CleaningReport:
    """The numbers of pairs that one cleaning pass read, kept, and dropped for each reason."""

    read: int = 0
    kept: int = 0
    dropped: dict[str, DroppedPairs] = field(default_factory=dict)


@final
class Cleaner:
    """A cleaner that normalises sentence pairs and drops those that the data settings exclude."""

    def __init__(self, data: Data, normalise_line: Callable[[str], str] | None = None) -> None:
        self.data = data
        self.normalise = normalise_line or normalise
        self.report = CleaningReport()
        self.seen = DuplicateFilter()
        # tells whether every pair with this normalised source is held out for validation
        self.is_held_out: Callable[[str], bool] = lambda _source: False

    def clean(self, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield the normalised pairs that no filter drops, and count all pairs in `self.report`.

        A call cleans one text and numbers its lines from 1. The counts add up over all calls.
        """
        report = self.report
        for line, pair in enumerate(pairs, start=1):
            source, target = map(self.normalise, pair)
            reason = exclusion_reason(source, target, self.data)
            if not reason and self.is_held_out(source):
                reason = HELD_OUT
            if not reason and self.data.drop_duplicates and not self.seen.add(source, target):
                reason = "duplicate"
            report.read += 1
            if reason:
                dropped = report.dropped.setdefault(reason, DroppedPairs())
                dropped.add(line, source, target, is_fault=reason != HELD_OUT)
            else:
                report.kept += 1
                yield source, target


EMPTY = "empty side"
RULES = {  # for each reason to drop pairs, a setting with which it drops fewer
    "too many characters": "data.max_characters=50000",
    "unequal lengths": "data.max_length_ratio=30",
    "identical sides": "data.drop_identical=false",
}


def exclusion_reason(source: str, target: str, data: Data) -> str:
    """Return why the data settings exclude a normalised sentence pair, or "" if they keep it."""
    shorter, longer = sorted((len(source), len(target)))
    if not shorter:
        return EMPTY
    if longer > data.max_characters:
        return "too many characters"
    if longer > data.max_length_ratio * shorter:
        return "unequal lengths"
    if data.drop_identical and source == target:
        return "identical sides"
    return ""


@final
class DuplicateFilter:
    """A set of sentence pairs, stored as 8-byte hashes in one table with open addressing.

    The table takes 10 to 15 bytes a pair, and 25 while it is enlarged; a Python set of integers
    takes 60 and more. Among 5 million pairs the probability that two different ones have the same
    hash is one in a million.
    """

    def __init__(self) -> None:
        self.table = array("Q", bytes(8 * 1024))  # 0 is an empty slot
        self.count = 0

    def add(self, source: str, target: str) -> bool:
        """Add a normalised pair; return whether it is new to the set."""
        # Normalised text has no newline, so that different pairs give different bytes.
        digest = blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()
        value = int.from_bytes(digest, "little") or 1
        slot = self._find_slot(value)
        if self.table[slot]:
            return False
        self.table[slot] = value
        self.count += 1
        if self.count * 5 > len(self.table) * 4:
            self._grow()
        return True

    def _find_slot(self, value: int) -> int:
        """Return the index of the slot that holds a hash, or of the empty slot to store it."""
        table, slot = self.table, value % len(self.table)
        while table[slot] and table[slot] != value:
            slot = (slot + 1) % len(table)
        return slot

    def _grow(self) -> None:
        """Enlarge the table by half and insert all its hashes again."""
        old = self.table
        self.table = array("Q", bytes(8)) * (len(old) * 3 // 2)
        for value in old:
            if value:
                self.table[self._find_slot(value)] = value
