"""Rules that a pair must keep to be training text, and the report of the pairs that broke one."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

import numpy as np
from jaxtyping import Float

from transduce.errors import InputError, short_repr, shorten
from transduce.settings.fields import require
from transduce.text.files import read_lines
from transduce.text.languages import (
    NO_LANGUAGE,
    can_detect_languages,
    detect_language,
    rank_languages,
    to_detected_code,
)
from transduce.text.pair_files import is_exchange_file, is_memory, read_pair_file
from transduce.text.placeholders import count_items, count_numbers

Pair = tuple[str, str]
EXAMPLES = 5
SHOWN = 200  # the most characters of an example's side that a report shows
MOST_RATIO, FEWEST = 3.0, 20  # longer over shorter side, if the longer has 20 characters or more
# Above this probability a text is in another language. This finds 95 % of French lines, and drops
# 1 of 2,500 English ones.
SURE = 0.5
REPEATS, LONGEST_REPEAT = 4, 20  # what breaks a rule: a phrase of up to 20 words 4 times in a row
RULES: Mapping[str, str] = {
    "empty": "a side is empty",
    "copy": "both sides are equal",
    "length": "one side is over three times as long as the other",
    "repetition": "the target repeats a phrase more often than the source",
    "language": "a side reads like another language",
    "numbers": "the numbers of both sides differ",
    "urls": "the URLs, e-mail addresses or placeholders of both sides differ",
    "letters": "a side has too few letters",
    "leak": "a side is a line of a test set",
    "improbable": "the pair is among the least probable",
}


@final
@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules to check: those that good pairs seldom break, and those that fields switch on."""

    languages: tuple[str, str] = ("", "")  # codes of source and target; "" for an unchecked side
    numbers: bool = False  # whether the numbers of both sides must be equal
    urls: bool = False  # whether URLs, e-mail addresses and placeholders must be equal
    letters: float = 0.0  # the least share of letters among a side's characters without blanks
    test_lines: frozenset[str] = frozenset()  # lines of test sets, as `strip_to_letters` has them

    def __post_init__(self) -> None:
        require(0 <= self.letters <= 1, f"a share of letters is in [0, 1], not {self.letters}")
        for language in filter(None, self.languages):
            require_detectable(language)

    def find_broken(self, source: str, target: str) -> list[str]:
        """Return the names of the rules that a normalised pair breaks."""
        if not source or not target:
            return ["empty"]
        both, repeats = (source, target), count_repeats(target)
        shorter, longer = sorted(map(measure_width, both))
        found = {
            "copy": source == target,
            "length": max(map(len, both)) >= FEWEST and longer > MOST_RATIO * shorter,
            "repetition": repeats >= REPEATS and repeats > count_repeats(source),
            "language": any(map(is_in_other_language, both, self.languages)),
            "numbers": self.numbers and count_numbers(source) != count_numbers(target),
            "urls": self.urls and count_items(source) != count_items(target),
            "letters": min(map(measure_letter_share, both)) < self.letters,
            "leak": any(strip_to_letters(side) in self.test_lines for side in both),
        }
        return [name for name, is_broken in found.items() if is_broken]


def measure_width(text: str) -> int:
    """Return a text's length; each Chinese, Japanese or Korean letter counts as 3 characters."""
    if text.isascii():
        return len(text)
    wide = (one.isalpha() and unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + 2 * sum(wide)


def count_repeats(text: str) -> int:
    """Return the most copies in a row of one phrase of ≤ 20 words; below 4 it may be too low."""
    words, most = text.split(), 1
    for size in range(1, min(LONGEST_REPEAT, len(words) // REPEATS) + 1):
        equal = 0  # words in a row that equal the word `size` places before
        for word, before in zip(words[size:], words, strict=False):
            equal = equal + 1 if word == before else 0
            most = max(most, equal // size + 1)
    return most


def require_detectable(language: object) -> None:
    """Raise InputError if py3langid is not installed, or does not know `language`."""
    if not can_detect_languages():
        fact = "languages are not detected here: py3langid is not installed, or does not load"
        raise InputError(fact, "pip install py3langid")
    known = {code for code, _ in rank_languages("any text")}
    is_known = isinstance(language, str) and to_detected_code(language) in known
    fact = f"py3langid does not know the language {short_repr(language)}"
    require(is_known, fact, "a two-letter code, such as de")


def is_in_other_language(text: str, language: str) -> bool:
    """Return whether a text is in another language than `language`, with probability over 0.5.

    A variant such as pt-BR counts as its language; "" means any language.
    """
    if not language:
        return False
    code, share = detect_language(text)
    return share > SURE and code not in (to_detected_code(language), NO_LANGUAGE)


def measure_letter_share(text: str) -> float:
    """Return the share of letters and their marks among a text's characters, without spaces."""
    letters = sum(unicodedata.category(one)[0] in "LM" for one in text)
    return letters / max(1, len(text) - text.count(" "))


def strip_to_letters(text: str) -> str:
    """Return a text's letters and digits, in lower case; near-copies of a line become equal."""
    folded = unicodedata.normalize("NFC", text.casefold())
    return "".join(one for one in folded if one.isalnum() or unicodedata.category(one)[0] == "M")


def read_test_lines(files: Iterable[Path]) -> frozenset[str]:
    """Return test sets' lines, or both sides of their pairs, as lower-case letters and digits.

    Units of a translation memory that are no pairs are left out.
    """
    sides = set[str]()
    for file in files:
        is_table = is_exchange_file(file)  # CSV or a translation memory
        rows = read_pair_file(file) if is_table else (line.split("\t") for line in read_lines(file))
        # a unit of a memory that is no pair gives ("", reason)
        found = (row for row in rows if row[0] or not is_memory(file))
        sides.update(strip_to_letters(side) for row in found for side in row)
    return frozenset(filter(None, sides))


def find_lowest(rates: Float[np.ndarray, " N"], share: float) -> set[int]:
    """Return the indices of the lowest ⌊share · N⌋ rates; among equal rates the first ones."""
    return set(np.argsort(rates, kind="stable")[: int(share * len(rates))].tolist())


@final
@dataclass
class RuleReport:
    """Counts of pairs read, kept, and dropped by each rule, or by it alone; and some examples."""

    read: int = 0
    kept: int = 0
    broken: dict[str, int] = field(default_factory=dict)
    alone: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[list[str]]] = field(default_factory=dict)

    def add(self, pair: Pair, rules: Collection[str]) -> None:
        """Count a pair under each rule that it breaks; store up to `EXAMPLES` pairs of a rule.

        Pairs that break no other rule come first, so that rules rarely share an example.
        """
        for name in rules:
            self.broken[name] = self.broken.get(name, 0) + 1
            self.alone[name] = self.alone.get(name, 0) + (len(rules) == 1)
            examples = self.examples.setdefault(name, [])
            place = self.alone[name] - 1 if len(rules) == 1 else len(examples)
            if place < EXAMPLES:
                examples.insert(place, [shorten(side, SHOWN) for side in pair])
                del examples[EXAMPLES:]

    def filter(self, pairs: Iterable[Pair], rules: Rules) -> Iterator[Pair]:
        """Yield the pairs that break no rule; count all as read, and others under their rules."""
        for pair in pairs:
            broken = rules.find_broken(*pair)
            self.read += 1
            self.add(pair, broken)
            if not broken:
                yield pair

    def describe(self) -> list[str]:
        """Return lines to print: the number of pairs kept, and each broken rule with examples."""
        lines = [f"{self.kept:,} of {self.read:,} pairs kept"]
        if 2 * self.kept < self.read:
            most = max(self.broken, key=lambda name: self.broken[name])
            lines.append(f"  over half were dropped, most by {most}: do the options fit this text?")
        for name, meaning in RULES.items():
            if count := self.broken.get(name, 0):
                lines.append(f"  {name}: {count:,}, {self.alone[name]:,} by it alone: {meaning}")
                lines += ["    {} | {}".format(*pair) for pair in self.examples[name]]
        return lines
