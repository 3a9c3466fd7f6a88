"""Sentences of two clauses: conditions, simultaneous actions, contrasts."""

from dataclasses import replace
from functools import cache

from tools.phrasebook.adjectives import ADJECTIVE, TOO, adjectives_for
from tools.phrasebook.being import PRICED, falling
from tools.phrasebook.clauses import (
    ON_PURPOSE,
    PAST,
    PLAIN,
    PRESENT,
    Mode,
    action,
    named,
)
from tools.phrasebook.draw import Draw
from tools.phrasebook.nouns import NOUN, nouns_of
from tools.phrasebook.particles import (
    AND,
    BARE,
    BEFORE,
    BUT,
    CAN,
    DEFINITE,
    HAD,
    IF,
    IT,
    MUST,
    OFTEN,
    PERSONAL,
    SHOULD,
    SO,
    THEY,
    UNTIL,
    WANT,
    WANTED,
    WEATHER,
    WHEN,
    WHEN_ONCE,
    WHILE,
    WILL,
    WOULD_LIKE,
)
from tools.phrasebook.phrases import (
    SURE,
    SURE_MANY,
    name,
    noun_phrase,
    referring,
    somebody,
    sure,
)
from tools.phrasebook.reasons import DUTIES, feeling_of, personal_subject
from tools.phrasebook.sentence import (
    Clause,
    NounPhrase,
    Phrase,
    Quality,
    Sentence,
    Tense,
)
from tools.phrasebook.times import TOMORROW
from tools.phrasebook.verbs import BE, DOING, HAVE, HELPING, INTRANSITIVE, MOVING, RAIN, SHINE
from tools.phrasebook.words import Adjective, Noun, Pronoun

# From an adjective to the adjectives that contrast with it: "cheap, but old".
CONTRASTS = {
    "cheap": "old dirty broken big small beautiful good",
    "beautiful": "old big small dark cold broken",
    "new": "broken dirty cheap big small",
    "good": "expensive cold",
    "interesting": "long short old expensive",
    "old": "beautiful good clean interesting expensive",
    "expensive": "good beautiful broken dirty small",
    "small": "beautiful heavy expensive",
    "sweet": "expensive cold",
    "fresh": "expensive",
    "dark": "warm beautiful",
    "big": "empty cheap dark",
}
TOO_MUCH = ("expensive", "big", "small", "dark", "cold", "heavy", "long", "short")
DURING = tuple(verb for verb in INTRANSITIVE + DOING + HELPING if verb in ON_PURPOSE)
EARLIER = named("work, swim, dance, sing, travel, visit, read, drink, cook, wear, help")

BEFOREHAND = tuple(verb for verb in DOING if verb in ON_PURPOSE)
CONTRASTED = PRICED + " food house kitchen room garden restaurant library shop station"
LEAVING = (*MOVING, INTRANSITIVE[0])
COMING = named("arrive, come back, fall asleep")


def conditional(draw: Draw) -> Sentence:
    """Draw a conditional sentence: "When it rains, she stays at home"."""
    pronoun = draw.pick(PERSONAL)
    turned = draw.chance(0.6)
    kind = draw.number(0, 4)
    if kind == 0:
        young = Quality(ADJECTIVE[draw.pick(("young", "poor"))])
        once = Clause(subject=pronoun, verb=BE, tense=Tense.PAST, predicate=young)
        main = action(draw, EARLIER, subject=pronoun, mode=PAST, extras=0.0)
        main = replace(main, often=draw.pick(OFTEN))
        return Sentence(main, link=WHEN_ONCE, other=once, turned=turned)
    if kind == 1:
        main = action(draw, ON_PURPOSE, subject=pronoun, mode=PRESENT, extras=0.3)
        main = replace(main, time=None)
        other = feeling_of(draw, main.verb, pronoun, PRESENT)
        return Sentence(main, link=WHEN, other=other, turned=turned)
    if kind == 2:
        main = replace(action(draw, ON_PURPOSE, mode=PRESENT, extras=0.3), time=None)
        return Sentence(main, link=WHEN, other=draw.pick(WEATHERS), turned=turned)
    modal = draw.pick((CAN, SHOULD, MUST, WILL))
    mode = Mode(Tense.PRESENT, modal)
    main = replace(action(draw, ON_PURPOSE, subject=pronoun, mode=mode, extras=0.3), time=None)
    other = replace(draw.pick(WEATHERS), time=TOMORROW)
    if kind == 3:
        having = NounPhrase(BARE, NOUN["money" if main.verb.name == "buy" else "time"])
        other = Clause(subject=pronoun, verb=HAVE, direct=having)
    return Sentence(main, link=IF, other=other, turned=turned)


WEATHERS = (
    Clause(subject=WEATHER, verb=RAIN),
    Clause(subject=NounPhrase(DEFINITE, NOUN["sun"]), verb=SHINE),
)


def meanwhile(draw: Draw) -> Sentence:
    """Draw a sentence with while or until: "While the children sleep, she reads"."""
    mode = draw.pick(PLAIN)
    link = draw.pick((WHILE, WHILE, BEFORE, UNTIL))
    if link is WHILE:
        main, other = two_actions(draw, mode)
        return Sentence(main, link=link, other=other, turned=draw.chance(0.4))
    if link is UNTIL:
        main = action(draw, INTRANSITIVE, subject=somebody(draw, known=True), mode=mode, extras=0.2)
        other = action(draw, COMING, mode=mode, extras=0.0)
        return Sentence(main, link=link, other=other)
    subject = personal_subject(draw)
    main = action(draw, BEFOREHAND, subject=subject, mode=mode, extras=0.1)
    other = action(draw, LEAVING, subject=referring(subject), mode=mode, extras=0.1)
    turned = isinstance(subject, Pronoun) and draw.chance(0.5)
    return Sentence(
        replace(main, often=None),
        link=link,
        other=replace(other, often=None, time=None),
        turned=turned,
    )


def two_actions(draw: Draw, mode: Mode) -> tuple[Clause, Clause]:
    """Draw two clauses with the actions of two different persons."""
    first = action(draw, DURING, subject=somebody(draw, known=True), mode=mode, extras=0.15)
    other: Phrase = name(draw) or sure(draw, "person")
    rest = tuple(verb for verb in DURING if verb is not first.verb)
    second = action(draw, rest, subject=other, mode=mode, extras=0.15)
    return replace(first, often=None), replace(second, often=None)


def joined(draw: Draw) -> Sentence:
    """Draw two clauses joined by and, but or so: "The boy sings, and his sister dances"."""
    link = draw.pick((AND, BUT, SO))
    mode = draw.pick(PLAIN)
    if link is AND:
        main, other = two_actions(draw, mode)
        return Sentence(main, link=link, other=other)
    subject = personal_subject(draw)
    pronoun = referring(subject)
    if link is BUT:
        wish, duty = (WANTED, HAD) if mode is PAST else (draw.pick((WANT, WOULD_LIKE)), MUST)
        main = action(draw, ON_PURPOSE, subject=subject, mode=Mode(mode.tense, wish), extras=0.1)
        other = action(draw, DUTIES, subject=pronoun, mode=Mode(mode.tense, duty), extras=0.0)
        return Sentence(main, link=link, other=other)
    if draw.chance(0.5):
        main = falling(draw, mode)
        other = action(draw, ON_PURPOSE, subject=subject, mode=mode, extras=0.2, deny=0.3)
        return Sentence(main, link=link, other=replace(other, often=None))
    other = action(draw, ON_PURPOSE, subject=pronoun, mode=mode, extras=0.2, deny=0.3)
    main = feeling_of(draw, other.verb, subject, mode, against=other.negated)
    return Sentence(main, link=link, other=replace(other, often=None))


def contrasted(draw: Draw) -> Sentence:
    """Draw a sentence of two contrasting qualities: "The shirt is cheap, but it is too small"."""
    noun, first, second = draw.pick(contrasts())
    draw.named.add(noun.name)
    subject = replace(noun_phrase(draw, noun, SURE, SURE_MANY), quality=None)
    pronoun = THEY if subject.plural else IT[noun.gender]
    tense = draw.pick(PLAIN).tense
    main = Clause(subject=subject, verb=BE, tense=tense, predicate=Quality(first))
    too = second.english in TOO_MUCH and draw.chance(0.6)
    said = Quality(second, TOO if too else None)
    return Sentence(
        main, link=BUT, other=Clause(subject=pronoun, verb=BE, tense=tense, predicate=said)
    )


@cache
def contrasts() -> tuple[tuple[Noun, Adjective, Adjective], ...]:
    """Return all (noun, adjective, contrasting adjective) for nouns that are things."""
    return tuple(
        (noun, first, second)
        for noun in nouns_of(CONTRASTED)
        if not noun.pair
        for first in adjectives_for(noun)
        for second in adjectives_for(noun)
        if second.english in CONTRASTS.get(first.english, "").split()
    )
