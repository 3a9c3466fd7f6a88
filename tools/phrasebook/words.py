"""The classes of lexicon entries; each entry is one word in English and in German."""

from dataclasses import dataclass
from enum import IntEnum
from typing import final


class Case(IntEnum):
    """The cases of German that the phrasebook uses."""

    NOMINATIVE = 0
    ACCUSATIVE = 1
    DATIVE = 2


class Gender(IntEnum):
    """The rows of a German table of endings: three genders, and one plural for all."""

    MASCULINE = 0
    FEMININE = 1
    NEUTER = 2
    PLURAL = 3


class Person(IntEnum):
    """The rows of a table of verb forms; "we" and "they" share one in both languages."""

    I = 0  # noqa: E741 - the pronoun
    YOU = 1
    HE = 2
    THEY = 3


Endings = tuple[tuple[str, str, str], ...]  # a row for each Gender, a column for each Case
Forms = tuple[str, str, str, str]  # one for each Person


@final
@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun in both languages; `kinds` (including its own name) decide which verbs fit."""

    english: str
    plural: str  # "" if the phrasebook has no plural
    german: str
    gender: Gender
    german_plural: str
    kinds: frozenset[str]
    name: str  # the English noun, or the last word of a compound: cup for coffee cup
    first: str = ""  # the first word of a compound: coffee

    @property
    def weak(self) -> bool:
        """Whether the German noun is weak: der Junge, den Jungen."""
        return "weak" in self.kinds

    @property
    def pair(self) -> bool:
        """Whether the noun is plural in English but singular in German: trousers, die Hose."""
        return "pair" in self.kinds


@final
@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """An adjective in both languages; German endings are added to `stem` (teuer, teur-)."""

    english: str
    german: str
    stem: str
    kinds: frozenset[str]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Determiner:
    """An article or other determiner, with the adjective endings that it requires."""

    english: str
    english_plural: str
    german: Endings  # whole words, not endings
    endings: Endings
    definite: bool = True


@final
@dataclass(frozen=True, eq=False, slots=True)
class Pronoun:
    """A personal, interrogative or relative pronoun in both languages."""

    subject: str
    object: str
    german: tuple[str, str, str]  # one for each Case
    person: Person
    reflexive: str = "sich"


@final
@dataclass(frozen=True, eq=False, slots=True)
class Name:
    """A first name, equal in both languages."""

    text: str
    pronoun: Pronoun


@final
@dataclass(frozen=True, eq=False, slots=True)
class Adverb:
    """An adverb of manner, place or time in both languages, which has one form only."""

    english: str
    german: str


@final
@dataclass(frozen=True, eq=False, slots=True)
class Preposition:
    """A preposition in both languages and the German case that it requires."""

    english: str
    german: str
    case: Case


@final
@dataclass(frozen=True, eq=False, slots=True)
class EnglishVerb:
    """The forms of an English verb, and the particle that follows it (get up)."""

    base: str
    present: Forms
    past: Forms
    particle: str = ""
    auxiliary: bool = False  # true for be, which needs no "do" in questions and negations


@final
@dataclass(frozen=True, eq=False, slots=True)
class GermanVerb:
    """The forms of a German verb; finite forms without the separable prefix."""

    infinitive: str
    present: Forms
    participle: str
    with_sein: bool = False
    prefix: str = ""
    reflexive: bool = False
    preterite: Forms | None = None  # only if more usual than the perfect: war, hatte

    @property
    def with_zu(self) -> str:
        """The infinitive with zu: zu lesen, aufzustehen."""
        if self.prefix:
            return f"{self.prefix}zu{self.infinitive.removeprefix(self.prefix)}"
        return f"zu {self.infinitive}"


@final
@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb in both languages, with the kinds of nouns that fit its subject and objects."""

    english: EnglishVerb
    german: GermanVerb
    who: str  # kinds of nouns that can be the subject, as are `what` and `whom` for objects
    what: str = ""  # direct objects, in the accusative
    whom: str = ""  # dative objects
    where: str = ""  # names of places or directions that fit
    how: str = ""  # names of manners that fit, such as quickly, or with for company
    traits: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The English name of the verb with its particle: look at, look for."""
        return f"{self.english.base} {self.english.particle}".rstrip()

    def has(self, trait: str) -> bool:
        """Return whether the verb has a trait, a word that marks it for a rule."""
        return trait in self.traits


@final
@dataclass(frozen=True, eq=False, slots=True)
class Modal:
    """A modal verb in both languages, with its English forms in questions and negations.

    Each English form is a finite verb and the words after it: does not | have to. If German has no
    such verb, `adverb` expresses the same (she likes to read: sie liest gern).
    """

    affirmed: tuple[Forms, str]
    denied: tuple[Forms, str]
    asked: tuple[Forms, str]
    german: Forms | None
    adverb: str = ""


@final
@dataclass(frozen=True, eq=False, slots=True)
class Link:
    """A conjunction in both languages, and the position of the German verb after it."""

    english: str
    german: str
    verb: str  # "last" | "second" | "inverted" | "infinitive"
    english_comma: bool = False
    german_comma: bool = True
