"""The nouns of grammar: what a lexicon entry says about one word in both languages."""

from dataclasses import dataclass
from enum import IntEnum
from typing import final


class Case(IntEnum):
    """The cases of German that the phrasebook uses."""

    NOMINATIVE = 0
    ACCUSATIVE = 1
    DATIVE = 2


class Gender(IntEnum):
    """The columns of a German table of endings: three genders, one plural for all of them."""

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


Endings = tuple[tuple[str, str, str], ...]  # one row a Gender, one column a Case
Forms = tuple[str, str, str, str]  # one a Person


@final
@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun; `kinds` says what can be done with the thing, `name` is it among them."""

    english: str
    plural: str  # "" where the phrasebook has no plural
    german: str
    gender: Gender
    german_plural: str
    kinds: frozenset[str]
    name: str  # of the last word where the noun is a compound: cup for coffee cup
    first: str = ""  # and of the first: coffee

    @property
    def weak(self) -> bool:
        """der Junge, den Jungen: the singular ends as the plural does."""
        return "weak" in self.kinds

    @property
    def pair(self) -> bool:
        """Trousers: plural in English, singular in German (die Hose)."""
        return "pair" in self.kinds


@final
@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
    """An adjective; `stem` takes the endings (teuer, teur-)."""

    english: str
    german: str
    stem: str
    kinds: frozenset[str]


@final
@dataclass(frozen=True, eq=False, slots=True)
class Determiner:
    """An article or what stands in its place, with the adjective endings that it calls for."""

    english: str
    english_plural: str
    german: Endings  # whole words here
    endings: Endings
    definite: bool = True


@final
@dataclass(frozen=True, eq=False, slots=True)
class Pronoun:
    """A word that stands for a phrase: personal, asking or relative."""

    subject: str
    object: str
    german: tuple[str, str, str]  # one a Case
    person: Person
    reflexive: str = "sich"


@final
@dataclass(frozen=True, eq=False, slots=True)
class Name:
    """A first name, the same in both languages."""

    text: str
    pronoun: Pronoun


@final
@dataclass(frozen=True, eq=False, slots=True)
class Adverb:
    """Words that never change their form: when, how, where."""

    english: str
    german: str


@final
@dataclass(frozen=True, eq=False, slots=True)
class Preposition:
    """A preposition and the case it calls for."""

    english: str
    german: str
    case: Case


@final
@dataclass(frozen=True, eq=False, slots=True)
class EnglishVerb:
    """The forms of an English verb; `particle` follows it (get up)."""

    base: str
    present: Forms
    past: Forms
    particle: str = ""
    auxiliary: bool = False  # be: no "do" in questions and negation


@final
@dataclass(frozen=True, eq=False, slots=True)
class GermanVerb:
    """The forms of a German verb, finite ones without the prefix that parts from them."""

    infinitive: str
    present: Forms
    participle: str
    with_sein: bool = False
    prefix: str = ""
    reflexive: bool = False
    preterite: Forms | None = None  # where it is more usual than the perfect: war, hatte

    @property
    def with_zu(self) -> str:
        """zu lesen, aufzustehen."""
        if self.prefix:
            return f"{self.prefix}zu{self.infinitive.removeprefix(self.prefix)}"
        return f"zu {self.infinitive}"


@final
@dataclass(frozen=True, eq=False, slots=True)
class Verb:
    """A verb with the kinds of nouns that make sense around it, each a list of names."""

    english: EnglishVerb
    german: GermanVerb
    who: str
    what: str = ""  # direct object, accusative
    whom: str = ""  # dative object
    where: str = ""  # places
    how: str = ""  # manners
    traits: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """look at, look for: what English calls it."""
        return f"{self.english.base} {self.english.particle}".rstrip()

    def has(self, trait: str) -> bool:
        """Whether a rule marked by this word holds for the verb."""
        return trait in self.traits


@final
@dataclass(frozen=True, eq=False, slots=True)
class Modal:
    """A verb before an infinitive. English has other forms of some in questions and negations.

    Each English way is the finite form and what follows it: does not | have to. Where German has
    no verb for it, `adverb` stands for it (she likes to read: sie liest gern).
    """

    affirmed: tuple[Forms, str]
    denied: tuple[Forms, str]
    asked: tuple[Forms, str]
    german: Forms | None
    adverb: str = ""


@final
@dataclass(frozen=True, eq=False, slots=True)
class Link:
    """What joins two clauses, and where it puts the German verb: last, second or inverted."""

    english: str
    german: str
    verb: str  # "last" | "second" | "inverted" | "infinitive"
    english_comma: bool = False
    german_comma: bool = True
