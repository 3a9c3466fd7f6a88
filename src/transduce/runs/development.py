"""Development sets: pairs held out of the training text, and checks of a set that is given

Without a recipe and a development set, a training of at least 2,000 pairs holds out 1 % of them, or
200 if that is more, but 2,000 at most. A given set is first compared with the training text, and
refused if its sides are swapped, or if one is in a script that the training text lacks.
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from math import log
from typing import final

import numpy as np

from transduce.errors import InputError
from transduce.runs.texts import MixedPairs, MixedText, Pair, Pairs, clean_pairs, take_pairs
from transduce.settings import Data
from transduce.tasks import find_task_kind
from transduce.text.clean import Cleaner

LEAST_PAIRS = 2_000  # a text of fewer pairs is trained on as a whole
HELD_OUT = (200, 2_000)  # the fewest and the most pairs that are held out; 1 % in between

SAMPLE = 5_000  # of a longer text, from so many to twice as many pairs are compared, evenly drawn
FEWEST_PAIRS = (200, 20)  # of the training text and of another one, if they are to be compared
NATS = 0.2  # a side is swapped if its trigrams are likelier in the other by more nats than this
LETTERS = 3  # characters of a trigram; trigrams tell languages apart
SHARE_OF_LETTERS = 0.5  # a text is in a script if more than this share of its letters are
SIDES = ("source", "target")
SCRIPTS = {"CJK": "Chinese characters"}  # other scripts are called by Unicode's names


@final
@dataclass(frozen=True)
class Division:
    """A training text, divided by hashes of its sources into pairs to train on and to hold out.

    Pairs of the same source stay together. The division depends only on the text and the settings
    of its cleaning, so that a resumed preparation holds out the same pairs.
    """

    text: Pairs
    data: Data

    @cached_property
    def held_out(self) -> Mapping[int, int]:
        """The number of pairs of each held-out source, by the hash of the source."""
        return choose_held_out(array("Q", (hash_source(source) for source, _ in self.clean())))

    def clean(self) -> Iterator[Pair]:
        """Yield the cleaned pairs of the main text, without mixed-in texts such as silver trees."""
        gold = self.text.main if isinstance(self.text, MixedPairs) else self.text
        cleaner = Cleaner(self.data, self.normalise)
        return clean_pairs(cleaner, take_pairs(gold, self.data.max_pairs))

    def normalise(self, line: str) -> str:
        """Return a line normalised as in cleaning, by the rules of the data's task kind."""
        return find_task_kind(self.data).normalise(line)

    def holds_out(self, source: str) -> bool:
        """Return whether pairs of this normalised source are held out."""
        return hash_source(source) in self.held_out


@final
@dataclass(frozen=True)
class TrainingPart:
    """The part of a text to train on: every pair whose source is not held out."""

    division: Division

    def read(self) -> Iterator[Pair]:
        """Yield every pair whose source is not held out."""
        division = self.division
        for source, target in division.text.read():
            if not division.holds_out(division.normalise(source)):
                yield source, target

    def fingerprint(self) -> str:
        """Return the fingerprint of the whole text, followed by words that name this part."""
        return f"{self.division.text.fingerprint()} without held-out pairs"


@final
@dataclass(frozen=True)
class HeldOutPart:
    """The cleaned pairs of a training text that are held out for validation."""

    division: Division

    def read(self) -> Iterator[Pair]:
        """Yield every pair that is held out."""
        return (pair for pair in self.division.clean() if self.division.holds_out(pair[0]))

    def fingerprint(self) -> str:
        """Return the fingerprint of the whole text, followed by words that name this part."""
        return f"{self.division.text.fingerprint()} held-out pairs"


def divide_text(text: Pairs, data: Data) -> tuple[TrainingPart, HeldOutPart]:
    """Return the two parts of a training text: for training, and held out for validation."""
    division = Division(text, data)
    return TrainingPart(division), HeldOutPart(division)


def find_whole_text(text: Pairs) -> Pairs:
    """Return the whole text that a part was divided from; return any other text unchanged."""
    return text.division.text if isinstance(text, TrainingPart | HeldOutPart) else text


def choose_held_out(hashes: Sequence[int]) -> Mapping[int, int]:
    """Choose the sources with the lowest hashes, about 1 % of all pairs; return {hash: pair count}.

    `hashes` has the hash of each pair's source. The chosen sources have about 1 % of the pairs, at
    least 200 and at most 2,000. A source with too many pairs for that is left to training. Nothing
    is chosen from fewer than 2,000 pairs.
    """
    fewest, most = HELD_OUT
    wanted = min(max(len(hashes) // 100, fewest), most)
    chosen, pairs = dict[int, int](), 0
    for digest, count in zip(*np.unique(hashes, return_counts=True), strict=True):
        if pairs >= wanted:
            break
        if pairs + count <= min(2 * wanted, most):
            chosen[int(digest)] = int(count)
            pairs += int(count)
    return chosen if len(hashes) >= LEAST_PAIRS and pairs >= fewest else {}


def hash_source(source: str) -> int:
    """Return a 64-bit hash of a normalised source."""
    content = source.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def clean_text(cleaner: Cleaner, text: Pairs, count: int) -> Iterator[Pair]:
    """Yield the pairs that cleaning keeps of a text's first `count` pairs, or of all if it is 0."""
    return chain.from_iterable(clean_texts(cleaner, text, count))


def clean_texts(cleaner: Cleaner, text: Pairs, count: int) -> list[Iterator[Pair]]:
    """Return an iterator over cleaned pairs for each text of a mixture, or one for `text` alone.

    Each reads a text's first `count` pairs, or all if `count` is 0. For a `TrainingPart` the
    cleaner is set to drop held-out pairs, and its report counts them.
    """
    mixture = find_mixture(text)
    if isinstance(text, TrainingPart):
        cleaner.is_held_out, text = text.division.holds_out, text.division.text
    if not mixture:
        return [clean_pairs(cleaner, take_pairs(text, count))]
    return [clean_pairs(cleaner, take_pairs(one.pairs, count), one.share.name) for one in mixture]


def find_mixture(text: Pairs) -> tuple[MixedText, ...]:
    """Return the texts of a mixture, or of a mixture's training part; () for any other text."""
    if isinstance(text, TrainingPart):
        text = text.division.text
    return text.texts if isinstance(text, MixedPairs) else ()


def require_texts_agree(train: Pairs, dev: Pairs | None, data: Data) -> None:
    """Raise InputError if `dev` or a mixed-in text has swapped sides, or a side in a new script."""
    text = find_whole_text(train)
    if isinstance(text, MixedPairs):
        for added in text.texts[1:]:
            require_same_sides(
                text.texts[0].pairs, added.pairs, f"the {added.share.name} text", data
            )
        text = text.main
    if dev is not None and not isinstance(dev, HeldOutPart):
        require_same_sides(text, dev, "the development set", data)


def require_same_sides(train: Pairs, other: Pairs, name: str, data: Data) -> None:
    """Refuse `other`, called `name` in errors, if its sides are swapped or in a new script.

    A single side that reads like the opposite side of the training text is refused, too. Texts of
    few pairs, and texts for tasks with labels or signals, are not compared.
    """
    if not find_task_kind(data).is_text:
        return
    ours = sample_pairs(take_pairs(train, data.max_pairs), data)
    theirs = sample_pairs(other.read(), data)
    if len(ours) < FEWEST_PAIRS[0] or len(theirs) < FEWEST_PAIRS[1]:
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
        other_side = SIDES[1 - SIDES.index(side)]
        fact = f"the {side} of {name} reads more like the {other_side} of the training text"
        raise InputError(fact, "check which files were named as source and target")
    for side, our_lines, their_lines in zip(SIDES, sides, others, strict=True):
        found = count_scripts(their_lines)  # a script of more than half of the letters counts
        script = next(
            (one for one, n in found.most_common(1) if n > SHARE_OF_LETTERS * found.total()), ""
        )
        known = count_scripts(our_lines)
        if script and known.total() and not known[script]:
            letters = SCRIPTS.get(script, f"{script.capitalize()} letters")
            fact = (
                f"the {side} of {name} is written in {letters}, and the {side} of the training "
                "text has none"
            )
            raise InputError(fact, "check which files were named as source and target")


def are_sides_swapped(
    outputs: Sequence[str], sources: Sequence[str], references: Sequence[str]
) -> bool:
    """Return whether a test set's sources, not its references, resemble a model's outputs.

    Fewer than 20 lines give False.
    """
    if len(outputs) < FEWEST_PAIRS[1]:
        return False
    model = LetterModel(outputs[:SAMPLE])
    source, reference = map(model.log_likelihood, (sources[:SAMPLE], references[:SAMPLE]))
    return source > reference + NATS


def sample_pairs(pairs: Iterable[Pair], data: Data) -> list[Pair]:
    """Return up to 10,000 evenly drawn pairs of a text, normalised, without empty sides.

    Pairs are drawn from the whole text, because it may be joined from texts in several languages.
    """
    kept, stride = list[Pair](), 1
    for index, pair in enumerate(pairs):
        if index % stride == 0:
            kept.append(pair)
        if len(kept) > 2 * SAMPLE:
            kept, stride = kept[::2], 2 * stride
    normalise = find_task_kind(data).normalise
    both = ((normalise(source), normalise(target)) for source, target in kept)
    return [pair for pair in both if all(pair)]


class LetterModel:
    """A character trigram model of a text, with add-one smoothing."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.counts = count_trigrams(lines)
        self.total = self.counts.total() + len(self.counts) + 1

    def log_likelihood(self, lines: Iterable[str]) -> float:
        """Return the mean log-likelihood of the lines' trigrams, in nats."""
        found = count_trigrams(lines)
        nats = sum(n * log((self.counts[one] + 1) / self.total) for one, n in found.items())
        return nats / max(1, found.total())


def count_trigrams(lines: Iterable[str]) -> Counter[str]:
    """Count the character trigrams of lines, in lower case."""
    found = Counter[str]()
    for line in lines:
        text = f" {line.lower()} "
        found.update(text[first : first + LETTERS] for first in range(len(text) - LETTERS + 1))
    return found


def count_scripts(lines: Iterable[str]) -> Counter[str]:
    """Count the letters of lines by script, under Unicode's names such as LATIN and CJK."""
    letters = Counter(letter for line in lines for letter in line if letter.isalpha())
    found = Counter[str]()
    for letter, count in letters.items():
        found[unicodedata.name(letter, "").split(" ")[0]] += count
    return found
