"""Random phrases that make sense, for subjects, objects, and the nouns in adverbials."""

from functools import cache

from tools.phrasebook.adjectives import VERY, adjectives_for, degrees_of
from tools.phrasebook.draw import Draw
from tools.phrasebook.nouns import compounds_of, nouns_of
from tools.phrasebook.particles import (
    ALL,
    BARE,
    COUNTS,
    DEFINITE,
    EVERY,
    HE,
    MANY,
    NAMES,
    NO,
    OWNERS,
    PERSONAL,
    POSSESSIVES,
    SHE,
    SOME,
    THEY,
    THIS,
    WE,
    A,
    I,
)
from tools.phrasebook.sentence import NounPhrase, Phrase, Quality
from tools.phrasebook.words import Determiner, Name, Noun, Pronoun

Choice = tuple[Determiner, ...]

# A determiner's share of a tuple is its probability. Names with MANY are for plural nouns.
SURE: Choice = (DEFINITE,) * 30 + POSSESSIVES * 3 + (THIS,) * 6 + OWNERS
SURE_MANY: Choice = (DEFINITE,) * 24 + POSSESSIVES * 2 + (THIS,) * 8 + OWNERS
OWNED: Choice = POSSESSIVES * 3 + OWNERS
NEAR: Choice = (DEFINITE,) * 30 + POSSESSIVES  # the place where something happens
SOMEBODY: Choice = SURE + (A,) * 16 + (EVERY,) * 8 + (NO,) * 5
SOMEBODY_MANY: Choice = SURE_MANY + (ALL,) * 10 + (MANY,) * 8 + (SOME,) * 8 + COUNTS + (NO,) * 2
SOMETHING: Choice = SURE + (A,) * 50
SOMETHING_MANY: Choice = SURE_MANY + (BARE,) * 20 + (MANY,) * 8 + (SOME,) * 10 + COUNTS * 2
STUFF: Choice = (BARE,) * 6 + (DEFINITE,) * 4 + POSSESSIVES
HAD: Choice = (A,) * 6 + (NO,) * 2
HAD_MANY: Choice = COUNTS + (MANY,) * 4 + (NO,) * 3
HAD_STUFF: Choice = (BARE,) * 3 + (NO,) * 2
GENERAL: Choice = (BARE,) * 4 + (DEFINITE,) * 2
WORN: Choice = (DEFINITE,) * 5 + (THIS, A)
WORN_MANY: Choice = (DEFINITE,) * 4 + (BARE,) * 4 + (THIS,)
FREE: Choice = (DEFINITE,) * 8 + (THIS,)
FREE_NEW: Choice = FREE + (A,) * 4
FREE_MANY: Choice = (*FREE, SOME, MANY, *COUNTS[:3])
OF_THINGS: Choice = SURE + (A,) * 16
OF_THINGS_MANY: Choice = SURE_MANY + (SOME,) * 6 + COUNTS


def fresh(draw: Draw, kinds: str) -> Noun:
    """Draw a noun of these kinds, or a compound of one, that is new in the sentence."""
    options = nouns_of(kinds)
    noun = draw.pick(options)
    for _ in range(9):
        if noun.name not in draw.named:
            break
        noun = draw.pick(options)
    draw.named.add(noun.name)
    if draw.chance(0.25) and compounds_of(noun):
        return draw.pick(compounds_of(noun))
    return noun


def noun_phrase(draw: Draw, noun: Noun, one: Choice, many: Choice = ()) -> NounPhrase:
    """Draw a noun phrase: determiner, perhaps an adjective; singular if `many` is empty."""
    one, many = suited(noun, one, many)
    plural = not noun.english or (bool(many and noun.plural) and draw.chance(0.3))
    determiner = draw.pick(many if plural and many else SURE_MANY if plural else one)
    while determiner in OWNERS and draw.named & OWNING:  # no "Anna sees Anna's dog"
        determiner = draw.pick(one)
    if determiner in OWNERS:
        draw.named.add(determiner.english[:-2])
    return NounPhrase(determiner, noun, plural, attribute(draw, noun))


OWNING = frozenset(name.text for name in NAMES)


def suited(noun: Noun, one: Choice, many: Choice) -> tuple[Choice, Choice]:
    """Return the determiners that suit a noun, singular and plural: "my aunt", not "my lake"."""
    if one not in (SURE, SOMEBODY, SOMETHING, OF_THINGS, NEAR):
        return one, many
    if "owned" in noun.kinds:
        return OWNED, OWNED
    if noun.kinds.isdisjoint(("public", "free")):
        return one, many
    if one is NEAR:
        return NEAR[:1], ()
    new_many = FREE_MANY if many else ()
    return (FREE, FREE if many else ()) if one is SURE else (FREE_NEW, new_many)


def attribute(draw: Draw, noun: Noun) -> Quality | None:
    """Draw an adjective for a position before the noun, or None."""
    if not draw.chance(0.42):
        return None
    options = adjectives_for(noun)
    if not options:
        return None
    adjective = draw.pick(options)
    very = VERY in degrees_of(adjective) and draw.chance(0.12)
    return Quality(adjective, VERY if very else None)


def sure(draw: Draw, kinds: str) -> NounPhrase:
    """Draw a noun phrase with a definite determiner: the, my, this, Anna's."""
    noun = fresh(draw, kinds)
    return noun_phrase(draw, noun, SURE, SURE_MANY)


def name(draw: Draw) -> Name | None:
    """Draw a first name; None if the sentence already has one."""
    if draw.named & OWNING:
        return None
    chosen = draw.pick(NAMES)
    draw.named.add(chosen.text)
    return chosen


def somebody(draw: Draw, *, known: bool, kinds: str = "person") -> Phrase:
    """Draw a subject: a pronoun, a name, or a noun of these kinds."""
    if "person" in kinds.split():
        if draw.chance(0.3):
            return draw.pick(PERSONAL)
        chosen = name(draw) if draw.chance(0.25) else None
        if chosen:
            return chosen
    noun = fresh(draw, kinds)
    if known:
        return noun_phrase(draw, noun, SURE, SURE_MANY)
    if "person" in noun.kinds:
        return noun_phrase(draw, noun, SOMEBODY, SOMEBODY_MANY)
    return noun_phrase(draw, noun, OF_THINGS, OF_THINGS_MANY)


def other_person(draw: Draw, subject: Phrase) -> Phrase:
    """Draw a known person as an object that differs from the subject."""
    if draw.chance(0.35):
        return draw.pick(others(subject))
    chosen = name(draw) if draw.chance(0.25) else None
    return chosen or sure(draw, "person")


@cache
def others(subject: object) -> tuple[Pronoun, ...]:
    """Return the pronouns that can be objects with this subject: not "I see us"."""
    if subject in (I, WE):
        return tuple(other for other in PERSONAL if other not in (I, WE))
    return tuple(other for other in PERSONAL if other is not subject)


def something(draw: Draw, kinds: str, how: str = "") -> NounPhrase:
    """Draw an object; `how` is "sure", "owner" (has a dog) or "general" (likes dogs)."""
    noun = fresh(draw, kinds)
    if how == "owner":
        many = HAD_MANY if noun.plural else ()
        return noun_phrase(draw, noun, HAD_STUFF if "mass" in noun.kinds else HAD, many)
    if how == "general":
        if "mass" in noun.kinds:
            return noun_phrase(draw, noun, GENERAL)
        return noun_phrase(draw, noun, SURE, SURE_MANY + (BARE,) * 40)
    if how == "sure":
        return noun_phrase(draw, noun, SURE, SURE_MANY)
    if how == "worn":
        return noun_phrase(draw, noun, WORN[:-1] if noun.pair else WORN, WORN_MANY)
    if "mass" in noun.kinds:
        return noun_phrase(draw, noun, STUFF)
    one = SURE if noun.pair else SOMETHING
    return noun_phrase(draw, noun, one, SOMETHING_MANY)


def referring(subject: Phrase) -> Pronoun:
    """Return the pronoun, in both languages, that can refer to this person a second time."""
    if isinstance(subject, Pronoun):
        return subject
    if isinstance(subject, Name):
        return subject.pronoun
    if subject.plural:
        return THEY
    return HE if "he" in subject.noun.kinds else SHE


def names_again(subject: Phrase) -> bool:
    """Return whether a pronoun can refer to a subject later: not to das Mädchen or a dog."""
    if not isinstance(subject, NounPhrase) or subject.plural:
        return True
    return not subject.noun.kinds.isdisjoint(("he", "she"))
