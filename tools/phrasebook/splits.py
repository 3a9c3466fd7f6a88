"""The split of a sentence, and the combinations of words that are held out of training.

The sha256 of the English sentence decides between train, dev and test, so that no seed can move a
sentence to another split. A held-out combination is an adjective and the noun that it describes, or
a verb and its object, chosen by the hash of the two words. The split "combinations" has the
sentences with such combinations; a sentence that has both words, but not combined, is in no split.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import final

from tools.phrasebook.adjectives import ADJECTIVES
from tools.phrasebook.english import english
from tools.phrasebook.german import german
from tools.phrasebook.grammar import sentences
from tools.phrasebook.nouns import NOUNS, nouns_of
from tools.phrasebook.sentence import (
    Clause,
    NounPhrase,
    Phrase,
    Prepositional,
    Quality,
    Sentence,
)
from tools.phrasebook.verbs import ALL_VERBS, DOING, GIVING
from tools.phrasebook.words import Adjective, Noun, Verb
from transduce.errors import InputError, suggest_names

SPLITS = ("train", "dev", "test", "combinations")
SHORTEST, LONGEST = 3, 20  # limits of the number of English words
HELD_OUT = 20  # one combination in 20 is held out
DEV = range(2)  # a sentence whose hash modulo 100 is in this range is in the split dev
TEST = range(2, 4)  # and in this range in the split test

Combination = tuple[Adjective | Verb, str]  # the noun is given by its name


def pairs(split: str, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield `count` English-German sentence pairs of a split, all with different English."""
    if split not in SPLITS:
        raise InputError(f"the phrasebook has no split {split!r}", suggest_names(split, SPLITS))
    if count < 0:
        raise InputError(f"the number of pairs must not be negative, it is {count}")
    return _pairs(split, count, seed)


def _pairs(split: str, count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a split; the arguments are checked by `pairs`."""
    seen: set[bytes] = set()
    for sentence in sentences(seed):
        if len(seen) == count:
            return
        found = words_of(sentence)
        if found.joins_held_out() != (split == "combinations"):
            continue
        if split != "combinations" and found.holds_held_out():
            continue
        text = english(sentence)
        if not SHORTEST <= text.count(" ") + 1 <= LONGEST:
            continue
        digest = hashlib.sha256(text.encode()).digest()
        if split not in ("combinations", bucket(digest)) or digest in seen:
            continue
        seen.add(digest)
        yield text, german(sentence)


def bucket(digest: bytes) -> str:
    """Return the split of a sentence by its sha256: "train", "dev" or "test"."""
    number = int.from_bytes(digest[:8], "big") % 100
    return "dev" if number in DEV else "test" if number in TEST else "train"


@cache
def held_out() -> frozenset[Combination]:
    """Return the combinations of words that only the split "combinations" contains."""
    described = ((each, noun) for each in ADJECTIVES for noun in NOUNS if each.kinds & noun.kinds)
    bases = Counter(verb.english.base for verb in ALL_VERBS)
    done = (
        (verb, noun)
        for verb in DOING + GIVING
        if bases[verb.english.base] == 1  # the English word belongs to a single verb
        for noun in nouns_of(verb.what)
    )
    chosen: set[Combination] = {
        (each, noun.name) for each, noun in described if _is_out(each.english, noun)
    }
    return frozenset(
        chosen | {(verb, noun.name) for verb, noun in done if _is_out(verb.name, noun)}
    )


def _is_out(word: str, noun: Noun) -> bool:
    """Return whether a combination is held out, by the sha256 of its two words."""
    digest = hashlib.sha256(f"{word} {noun.name}".encode()).digest()
    return digest[0] % HELD_OUT == 0


@final
@dataclass(slots=True)
class Words:
    """The adjectives, verbs and nouns of a sentence, and the pairs that the sentence joins."""

    heads: list[Adjective | Verb] = field(default_factory=list)
    nouns: list[str] = field(default_factory=list)
    joined: list[Combination] = field(default_factory=list)

    def joins_held_out(self) -> bool:
        """Return whether the sentence joins the two words of a held-out combination."""
        return not held_out().isdisjoint(self.joined)

    def holds_held_out(self) -> bool:
        """Return whether both words of a held-out combination occur, joined or not."""
        out = held_out()
        return any((head, noun) in out for head in self.heads for noun in self.nouns)

    def clause(self, clause: Clause) -> None:
        """Add the words of a clause and of all clauses within it."""
        self.heads.append(clause.verb)
        for part in (clause.subject, clause.direct, clause.indirect):
            self.phrase(part)
        for where in (clause.place, clause.manner, clause.front):
            if isinstance(where, Prepositional):
                self.phrase(where.phrase)
        if isinstance(clause.direct, NounPhrase):
            self.joined.append((clause.verb, clause.direct.noun.name))
        if isinstance(clause.predicate, NounPhrase):
            self.phrase(clause.predicate)
        elif isinstance(clause.predicate, Quality):
            self.heads.append(clause.predicate.adjective)
            self.phrase(clause.predicate.like)
            if isinstance(clause.subject, NounPhrase):
                self.joined.append((clause.predicate.adjective, clause.subject.noun.name))

    def phrase(self, part: Phrase | None) -> None:
        """Add the words of a phrase and of its relative clause."""
        if not isinstance(part, NounPhrase):
            return
        self.nouns.append(part.noun.name)
        if part.noun.first:
            self.nouns.append(part.noun.first)
        if part.quality:
            self.heads.append(part.quality.adjective)
            self.joined.append((part.quality.adjective, part.noun.name))
        if part.relative:
            self.clause(part.relative)


def words_of(sentence: Sentence) -> Words:
    """Return the words of all clauses of a sentence."""
    words = Words()
    words.clause(sentence.main)
    if sentence.other:
        words.clause(sentence.other)
    return words
