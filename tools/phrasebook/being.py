"""Sentences of one clause with "be", and about age, price, time and weather."""

from dataclasses import replace

from tools.phrasebook.adjectives import (
    ADJECTIVE,
    COLOURS,
    VERY,
    adjectives_for,
    degrees_of,
)
from tools.phrasebook.clauses import FUTURE, PLAIN, PRESENT, Mode, day_of
from tools.phrasebook.draw import Draw
from tools.phrasebook.nouns import LADY, NOUN
from tools.phrasebook.numbers import english_number, german_number
from tools.phrasebook.particles import HE, HOW_MUCH, HOW_OLD, NAMES, SHE, WEATHER, A
from tools.phrasebook.phrases import (
    SURE,
    fresh,
    noun_phrase,
    referring,
    somebody,
    something,
    sure,
)
from tools.phrasebook.sentence import Clause, Mood, NounPhrase, Phrase, Quality, Sentence
from tools.phrasebook.times import NOW, TODAY, clock, date, hour, weekday
from tools.phrasebook.verbs import BE, COST, RAIN, RAINING
from tools.phrasebook.words import Adverb

MATERIAL = (  # kinds of nouns that can have a quality, such as old
    "person animal food drink clothes print vessel small furniture vehicle device opening "
    "building room plant work town village street park lake forest lesson question"
)
PRICED = "clothes print vessel small furniture vehicle device"


def being(draw: Draw) -> Sentence:
    """Draw a sentence about a quality: "The old house was very beautiful"."""
    clause = quality_of(draw, deny=0.15)
    asked = not clause.negated and draw.chance(0.25)
    return Sentence(clause, Mood.QUESTION if asked else Mood.STATEMENT)


def quality_of(
    draw: Draw, *, mode: Mode | None = None, deny: float = 0.0, kinds: str = MATERIAL
) -> Clause:
    """Draw a clause about a quality of a known thing or person: "the lamp was very old"."""
    subject = sure(draw, kinds)
    if subject.quality and subject.quality.adjective.english not in COLOURS:  # no "old ... is new"
        subject = replace(subject, quality=None)
    plain = tuple(each for each in adjectives_for(subject.noun) if each.english not in COLOURS)
    adjective = draw.pick(adjectives_for(subject.noun) if subject.quality is None else plain)
    degree = draw.pick(degrees_of(adjective))
    tense = (mode or draw.pick(PLAIN)).tense
    return Clause(
        subject=subject,
        verb=BE,
        tense=tense,
        negated=draw.chance(deny),
        predicate=Quality(adjective, degree),
    )


def comparing(draw: Draw) -> Sentence:
    """Draw a comparison of two equal things: "Your dog is as old as Anna's cat"."""
    kinds = draw.pick(("adult", "pet", "clothes", "furniture", "vehicle", "building"))
    subject, other = sure(draw, kinds), replace(sure(draw, kinds), quality=None)
    subject = replace(subject, quality=None)
    options = [
        each
        for each in adjectives_for(subject.noun)
        if each in adjectives_for(other.noun) and VERY in degrees_of(each)
    ] or [ADJECTIVE["old"]]
    said = Quality(draw.pick(options), like=other)
    tense = draw.pick(PLAIN).tense
    negated = draw.chance(0.3)
    return Sentence(Clause(subject=subject, verb=BE, tense=tense, negated=negated, predicate=said))


def profession(draw: Draw) -> Sentence:
    """Draw a sentence about a profession: "Anna is a doctor" (Ärztin)."""
    subject: Phrase = draw.pick((SHE, HE))
    if draw.chance(0.7):
        subject = (
            draw.pick(NAMES) if draw.chance(0.3) else noun_phrase(draw, fresh(draw, KIN), SURE)
        )
    she = referring(subject) is SHE
    noun = (LADY if she else NOUN)[draw.pick(("student", "teacher", "doctor"))]
    good = Quality(draw.pick(GOOD)) if draw.chance(0.35) else None
    said = NounPhrase(A, noun, quality=good)
    tense = draw.pick(PLAIN).tense
    negated = draw.chance(0.25)
    return Sentence(Clause(subject=subject, verb=BE, tense=tense, negated=negated, predicate=said))


KIN = "brother sister mother father uncle aunt neighbour friend"
GOOD = tuple(ADJECTIVE[word] for word in ("good", "famous", "poor", "clever"))


def counting(draw: Draw) -> Sentence:
    """Draw a sentence with an age or a price: "My brother is twenty-one years old"."""
    n = draw.number(13, 19) if draw.chance(0.4) else draw.number(2, 99)
    if draw.chance(0.5):
        subject = somebody(draw, known=True) if draw.chance(0.5) else sure(draw, "person")
        if isinstance(subject, NounPhrase):
            grown = "adult" in subject.noun.kinds
            n = draw.number(18, 99) if grown and n < 18 else n if grown else draw.number(2, 17)
        if draw.chance(0.2):
            return Sentence(Clause(subject=subject, verb=BE, front=HOW_OLD), Mood.QUESTION)
        age = Adverb(f"{english_number(n)} years old", f"{german_number(n)} Jahre alt")
        return Sentence(Clause(subject=subject, verb=BE, predicate=age))
    thing = sure(draw, PRICED)
    if draw.chance(0.2):
        return Sentence(Clause(subject=thing, verb=COST, front=HOW_MUCH), Mood.QUESTION)
    price = Adverb(f"{english_number(n)} euros", f"{german_number(n)} Euro")
    return Sentence(Clause(subject=thing, verb=COST, predicate=price))


def telling_time(draw: Draw) -> Sentence:
    """Draw a sentence about the hour, day or date: "It is half past four"."""
    if draw.chance(0.25):
        said = hour(draw.number(1, 12), 5 * draw.number(0, 11))
        return Sentence(
            Clause(subject=WEATHER, verb=BE, tense=draw.pick(PLAIN).tense, predicate=said)
        )
    if draw.chance(0.4):
        subject = something(draw, "birthday")
        said = date(draw.number(1, 28), draw.number(0, 11))
        return Sentence(Clause(subject=subject, verb=BE, predicate=said))
    subject = sure(draw, "event")
    said = weekday(draw.number(0, 6))
    if draw.chance(0.5):
        said = clock(draw.number(1, 12), 5 * draw.number(0, 11))
    tense = draw.pick(PLAIN).tense
    return Sentence(Clause(subject=subject, verb=BE, tense=tense, predicate=said))


def weather(draw: Draw) -> Sentence:
    """Draw a sentence about the weather: "It will rain tomorrow"."""
    mode = draw.pick((*PLAIN, *PLAIN, FUTURE, FUTURE, FUTURE, FUTURE))
    clause = weather_of(draw, mode)
    if mode is FUTURE:
        clause = Clause(subject=WEATHER, verb=RAIN, modal=mode.modal)
    time = None
    if mode is PRESENT:
        time = draw.pick((None, TODAY, NOW))
    elif draw.chance(0.9):
        time = day_of(draw, RAIN, mode)
    asked = draw.chance(0.25)
    return Sentence(replace(clause, time=time), Mood.QUESTION if asked else Mood.STATEMENT)


def falling(draw: Draw, mode: Mode) -> Clause:
    """Draw a clause about rain, but never "it is cold", where "it" could also be a thing."""
    verb = draw.pick((RAINING, RAINING, RAIN))
    return Clause(subject=WEATHER, verb=verb, tense=mode.tense)


def weather_of(draw: Draw, mode: Mode) -> Clause:
    """Draw a clause about the weather: "it rains", "it is raining", "it is cold"."""
    if draw.chance(0.6):
        return falling(draw, mode)
    said = Quality(ADJECTIVE[draw.pick(("cold", "warm", "dark"))])
    return Clause(subject=WEATHER, verb=BE, tense=mode.tense, predicate=said)
