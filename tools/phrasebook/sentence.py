"""The abstract sentence, from which the texts of both languages are generated."""

from dataclasses import dataclass
from enum import Enum
from typing import final

from tools.phrasebook.words import (
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
    """The tense: English present or simple past, German present or perfect."""

    PRESENT = "present"
    PAST = "past"


class Mood(Enum):
    """The mood of a main clause, such as statement or question."""

    STATEMENT = "statement"
    QUESTION = "question"


class Role(Enum):
    """The parts of a clause that a question word or a relative pronoun can replace."""

    SUBJECT = "subject"
    DIRECT = "direct"
    INDIRECT = "indirect"


@final
@dataclass(frozen=True, slots=True)
class Quality:
    """An adjective with its degree, or a comparison: "very old", "as old as Anna"."""

    adjective: Adjective
    degree: Adverb | None = None
    like: "Phrase | None" = None


@final
@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with determiner, adjective and relative clause: "the old man who lives here"."""

    determiner: Determiner
    noun: Noun
    plural: bool = False
    quality: Quality | None = None
    relative: "Clause | None" = None


Phrase = NounPhrase | Pronoun | Name


@final
@dataclass(frozen=True, slots=True)
class Prepositional:
    """A preposition with a noun phrase: "in the kitchen"."""

    preposition: Preposition
    phrase: Phrase


Adverbial = Adverb | Prepositional


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A verb with its subject, objects and adverbials; `front` comes first in both languages."""

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
    """One clause, or two clauses and their conjunction; `turned` puts the second clause first."""

    main: Clause
    mood: Mood = Mood.STATEMENT
    link: Link | None = None
    other: Clause | None = None
    turned: bool = False
