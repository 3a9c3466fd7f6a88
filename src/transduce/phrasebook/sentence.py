"""The abstract sentence that both languages are spoken from: what is meant, not how it is said."""

from dataclasses import dataclass
from enum import Enum
from typing import final

from transduce.phrasebook.words import (
    Adjective,
    Adverb,
    Determiner,
    Link,
    Modal,
    Name,
    Noun,
    Preposition,
    Pronoun,
    Verb,
)


class Tense(Enum):
    """English present and simple past; German present and perfect."""

    PRESENT = "present"
    PAST = "past"


class Mood(Enum):
    """What a main clause does."""

    STATEMENT = "statement"
    QUESTION = "question"


class Role(Enum):
    """The parts of a clause that a question or a relative pronoun can stand for."""

    SUBJECT = "subject"
    DIRECT = "direct"
    INDIRECT = "indirect"


@final
@dataclass(frozen=True, slots=True)
class Quality:
    """very old; also the predicate of "be", where it can compare: as old as Anna."""

    adjective: Adjective
    degree: Adverb | None = None
    like: "Phrase | None" = None


@final
@dataclass(frozen=True, slots=True)
class NounPhrase:
    """the very old man who lives here; an owner is a determiner (Anna's)."""

    determiner: Determiner
    noun: Noun
    plural: bool = False
    quality: Quality | None = None
    relative: "Clause | None" = None


Phrase = NounPhrase | Pronoun | Name


@final
@dataclass(frozen=True, slots=True)
class Prepositional:
    """in the kitchen."""

    preposition: Preposition
    phrase: Phrase


Adverbial = Adverb | Prepositional


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A verb with all that stands around it; `front` opens the clause in both languages."""

    subject: Phrase
    verb: Verb
    tense: Tense = Tense.PRESENT
    modal: Modal | None = None
    negated: bool = False
    direct: Phrase | None = None
    indirect: Phrase | None = None
    predicate: Quality | NounPhrase | Adverb | None = None
    often: Adverb | None = None
    manner: Adverbial | None = None
    place: Adverbial | None = None
    time: Adverb | None = None
    front: Role | Adverbial | None = None


@final
@dataclass(frozen=True, slots=True)
class Sentence:
    """One clause, or two with what links them; `turned` says the second comes first."""

    main: Clause
    mood: Mood = Mood.STATEMENT
    link: Link | None = None
    other: Clause | None = None
    turned: bool = False
