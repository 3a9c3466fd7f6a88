"""Development sets: one held out of the training text, and checks that a given one belongs to it.

A training without a recipe and without a development set holds out 1 % of its pairs, so that every
user sees a score. A given development set is compared with the training text before anything is
trained: sides that are swapped, or in letters that the training text lacks, are refused.
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import log
from typing import final

import numpy as np

from transduce.errors import InputError
from transduce.runs.texts import MixedPairs, Pair, Pairs, clean_pairs, take_pairs
from transduce.settings import Data
from transduce.tasks import find_task_kind
from transduce.text.clean import Cleaner

LEAST_PAIRS = 2_000  # a text of fewer pairs is trained on as a whole
HELD_OUT = (200, 2_000)  # fewest and most pairs that are held out; between them 1 %

SAMPLE = 5_000  # at least so many pairs of a text are compared, evenly drawn, or all
FEWEST = (200, 20)  # fewest pairs of a training text and of another text that are compared
NATS = 0.2  # a side is in the other side's language if it is likelier there by so much a letter
LETTERS = 3  # a language is told by which three characters follow each other
SHARE = 0.5  # share of a text's letters that its own alphabet has
SIDES = ("source", "target")
ALPHABETS = {"CJK": "Chinese characters"}  # the names of others are those of Unicode


@final
@dataclass(frozen=True)
class Division:
    """A training text and the pairs of it that are held out, chosen by a hash of their source.

    Pairs of the same source stay together. Which ones are held out depends on nothing but the text
    and the settings of its cleaning, so that a resumed preparation holds out the same.
    """

    text: Pairs
    data: Data

    @cached_property
    def held_out(self) -> Mapping[int, int]:
        """The number of pairs of each source that is held out, by the hash of the source."""
        return choose_held_out(array("Q", (hash_source(source) for source, _ in self.clean())))

    def clean(self) -> Iterator[Pair]:
        """Yield the cleaned pairs, without added ones such as silver trees."""
        gold = self.text.main if isinstance(self.text, MixedPairs) else self.text
        cleaner = Cleaner(self.data, self.normalise)
        return clean_pairs(cleaner, take_pairs(gold, self.data.max_pairs))

    def normalise(self, line: str) -> str:
        """Normalise a line as the cleaning does."""
        return find_task_kind(self.data).normalise(line)

    def holds_out(self, source: str) -> bool:
        """Return whether pairs of this normalised source are held out."""
        return hash_source(source) in self.held_out


@final
@dataclass(frozen=True)
class TrainingPart:
    """A training text without the pairs that are held out, and without others of their sources."""

    division: Division

    def read(self) -> Iterator[Pair]:
        """Yield every pair that is not held out."""
        division = self.division
        for source, target in division.text.read():
            if not division.holds_out(division.normalise(source)):
                yield source, target

    def fingerprint(self) -> str:
        """Return the fingerprint of the whole text, marked."""
        return f"{self.division.text.fingerprint()} without held-out pairs"


@final
@dataclass(frozen=True)
class HeldOutPart:
    """The pairs of a training text that are held out, cleaned as the rest of it."""

    division: Division

    def read(self) -> Iterator[Pair]:
        """Yield every pair that is held out."""
        return (pair for pair in self.division.clean() if self.division.holds_out(pair[0]))

    def fingerprint(self) -> str:
        """Return the fingerprint of the whole text, marked."""
        return f"{self.division.text.fingerprint()} held-out pairs"


def divide(text: Pairs, data: Data) -> tuple[TrainingPart, HeldOutPart]:
    """Return the two parts of a training text: for training, and held out for validation."""
    division = Division(text, data)
    return TrainingPart(division), HeldOutPart(division)


def find_whole_text(text: Pairs) -> Pairs:
    """Return a training text with the pairs that are held out of it, if there are any."""
    return text.division.text if isinstance(text, TrainingPart) else text


def choose_held_out(hashes: Sequence[int]) -> Mapping[int, int]:
    """Choose the sources with the lowest hashes, given that of every pair; return their pairs.

    They have 1 % of the pairs, at least 200 and at most 2,000. A source of so many pairs that they
    would be too many is left to training. Nothing is chosen from fewer than 2,000 pairs.
    """
    fewest, most = HELD_OUT
    wanted = min(max(len(hashes) // 100, fewest), most)
    chosen, pairs = dict[int, int](), 0
    for source, count in zip(*np.unique(hashes, return_counts=True), strict=True):
        if pairs >= wanted:
            break
        if pairs + count <= min(2 * wanted, most):
            chosen[int(source)] = int(count)
            pairs += int(count)
    return chosen if len(hashes) >= LEAST_PAIRS and pairs >= fewest else {}


def hash_source(source: str) -> int:
    """Return 64 bits of the hash of a normalised source."""
    content = source.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def clean_text(cleaner: Cleaner, text: Pairs, count: int) -> Iterator[Pair]:
    """Yield the pairs of a text that cleaning keeps, of its first `count` pairs if not 0.

    The cleaner reports pairs that are held out with the others that it leaves out.
    """
    if isinstance(text, TrainingPart):
        cleaner.is_held_out, text = text.division.holds_out, text.division.text
    return clean_pairs(cleaner, take_pairs(text, count))


def require_texts_agree(train: Pairs, dev: Pairs | None, data: Data) -> None:
    """Refuse a development set, or old text in a mixed one, whose sides are not the text's own."""
    new = find_whole_text(train)
    if isinstance(new, MixedPairs):
        require_same_sides(new.main, new.added, f"the {new.names[1]} text", data)
        new = new.main
    if dev is not None and not isinstance(dev, HeldOutPart):
        require_same_sides(new, dev, "the development set", data)


def require_same_sides(train: Pairs, other: Pairs, name: str, data: Data) -> None:
    """Refuse a text, such as "the development set", whose sides are not the training text's.

    Its sides are swapped, one is in the language of the other side, or in letters that this side of
    the training text does not have. Texts of few pairs and of closed lists of symbols are not
    compared.
    """
    if find_task_kind(data).target_symbols is not None:
        return
    ours = sample_pairs(take_pairs(train, data.max_pairs), data)
    theirs = sample_pairs(other.read(), data)
    if len(ours) < FEWEST[0] or len(theirs) < FEWEST[1]:
        return
    sides = [list(side) for side in zip(*ours, strict=True)]
    others = [list(side) for side in zip(*theirs, strict=True)]
    models = [LetterModel(side) for side in sides]
    crossed = [
        side
        for side, lines, own, opposite in zip(SIDES, others, models, models[::-1], strict=True)
        if opposite.log_likelihood(lines) > own.log_likelihood(lines) + NATS
    ]
    if len(crossed) == 2:
        raise InputError(
            f"{name} has its sides swapped: its source reads like the target of the training text, "
            "and its target like the source",
            "exchange its two files, or its two columns",
        )
    for side in crossed:
        opposite = SIDES[1 - SIDES.index(side)]
        fact = f"the {side} of {name} reads more like the {opposite} of the training text"
        raise InputError(fact, "check which files were named as source and target")
    for side, our_lines, their_lines in zip(SIDES, sides, others, strict=True):
        alphabet = find_alphabet(their_lines)
        known = count_alphabets(our_lines)
        if alphabet and known.total() and not known[alphabet]:
            letters = ALPHABETS.get(alphabet, f"{alphabet.capitalize()} letters")
            fact = (
                f"the {side} of {name} is written in {letters}, and the {side} of the training "
                "text has none"
            )
            raise InputError(fact, "check which files were named as source and target")


def sample_pairs(pairs: Iterable[Pair], data: Data) -> list[Pair]:
    """Return 5,000 to 10,000 pairs of a text, evenly drawn, or all; without those of a blank side.

    Pairs far apart are compared, because a text may be joined of texts in several languages.
    """
    kept, stride = list[Pair](), 1
    for number, pair in enumerate(pairs):
        if number % stride == 0:
            kept.append(pair)
        if len(kept) > 2 * SAMPLE:
            kept, stride = kept[::2], 2 * stride
    normalise = find_task_kind(data).normalise
    both = ((normalise(source), normalise(target)) for source, target in kept)
    return [pair for pair in both if all(pair)]


class LetterModel:
    """How often three characters follow each other in a text, with a count of 1 for unseen ones."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.counts = count_trigrams(lines)
        self.total = self.counts.total() + len(self.counts) + 1

    def log_likelihood(self, lines: Iterable[str]) -> float:
        """Return the mean log-likelihood of the trigrams of lines, in nats."""
        found = count_trigrams(lines)
        nats = sum(n * log((self.counts[one] + 1) / self.total) for one, n in found.items())
        return nats / max(1, found.total())


def count_trigrams(lines: Iterable[str]) -> Counter[str]:
    """Count the runs of three characters of lines, case aside."""
    found = Counter[str]()
    for line in lines:
        text = f" {line.lower()} "
        found.update(text[first : first + LETTERS] for first in range(len(text) - LETTERS + 1))
    return found


def count_alphabets(lines: Iterable[str]) -> Counter[str]:
    """Count the letters of lines by alphabet, as Unicode names it: LATIN, CYRILLIC, CJK …"""
    letters = Counter(letter for line in lines for letter in line if letter.isalpha())
    found = Counter[str]()
    for letter, count in letters.items():
        found[unicodedata.name(letter, "").split(" ")[0]] += count
    return found


def find_alphabet(lines: Iterable[str]) -> str:
    """Return the alphabet of more than half of the letters of lines, or "" if there is none."""
    found = count_alphabets(lines)
    return next((one for one, n in found.most_common(1) if n > SHARE * found.total()), "")
