"""Sentences of two clauses: reasons, conditions, what somebody thinks, relative clauses."""

from dataclasses import replace
from functools import cache

from transduce.corpus.phrasebook.adjectives import ADJECTIVE, TOO, VERY, adjectives_for, degrees_of
from transduce.corpus.phrasebook.being import PRICED, falling
from transduce.corpus.phrasebook.clauses import (
    BY_PERSONS,
    OF_TENSE,
    ON_PURPOSE,
    PAST,
    PLAIN,
    PRESENT,
    Mode,
    action,
    fitting,
)
from transduce.corpus.phrasebook.draw import Draw
from transduce.corpus.phrasebook.nouns import NOUN, nouns_of
from transduce.corpus.phrasebook.particles import (
    ALTHOUGH,
    AND,
    BARE,
    BECAUSE,
    BEFORE,
    BUT,
    CAN,
    DEFINITE,
    HAD,
    IF,
    IT,
    MUST,
    NO,
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
from transduce.corpus.phrasebook.phrases import (
    SOMETHING,
    STUFF,
    SURE,
    SURE_MANY,
    name,
    names_again,
    noun_phrase,
    referring,
    somebody,
    sure,
)
from transduce.corpus.phrasebook.sentence import (
    Clause,
    NounPhrase,
    Phrase,
    Quality,
    Sentence,
    Tense,
)
from transduce.corpus.phrasebook.times import TOMORROW
from transduce.corpus.phrasebook.verbs import (
    ALONE,
    BE,
    DOING,
    HAVE,
    HELPING,
    MOVING,
    RAIN,
    RISING,
    SHINE,
)
from transduce.corpus.phrasebook.words import Adjective, Link, Noun, Pronoun, Verb

# What speaks for doing something to a thing, and what against it.
FOR_IT = {
    "buy": "cheap beautiful new good interesting fresh",
    "sell": "old big small",
    "wash": "dirty",
    "repair": "broken",
    "throw away": "old broken dirty",
    "wear": "warm beautiful new clean",
    "look at": "beautiful famous interesting",
    "read": "interesting short good",
    "eat": "sweet fresh good",
    "drink": "warm cold good",
}
AGAINST_IT = {
    "buy": "expensive old dirty broken",
    "sell": "new beautiful",
    "wear": "old dirty",
    "read": "long old",
    "eat": "cold old",
    "drink": "cold",
    "throw away": "new clean beautiful",
}
# What may surprise about a thing of which something else was said first.
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
# What one does in which mood; whoever is happy does the rest.
MOODS_OF = {
    "sleep": "tired ill", "rest": "tired ill", "stay": "tired ill sad", "sit down": "tired ill",
    "come back": "tired ill", "fall asleep": "tired", "sit": "sad tired",
    "go": "happy sad", "wait": "sad", "work": "sad", "thank": "happy", "eat": "hungry",
    "cook": "hungry", "drink": "thirsty",
}  # fmt: skip
DURING = tuple(verb for verb in ALONE + DOING + HELPING if verb in ON_PURPOSE)
DUTIES = tuple(
    verb
    for verb in ON_PURPOSE
    if verb.name
    in ("work", "sleep", "travel", "cook", "help", "tidy up", "visit", "pick up", "wash", "go")
)
BEFOREHAND = tuple(verb for verb in DOING if verb in ON_PURPOSE)
CONTRASTED = PRICED + " food house kitchen room garden restaurant library shop station"
LEAVING = (*MOVING, ALONE[0])
COMING = tuple(verb for verb in RISING if verb.name in ("arrive", "come back", "fall asleep"))


@cache
def arguments(link: Link) -> tuple[tuple[Verb, Noun, Adjective], ...]:
    """Every verb and thing that an adjective speaks for (because) or against (although)."""
    reasons = FOR_IT if link is BECAUSE else AGAINST_IT
    return tuple(
        (verb, noun, adjective)
        for verb in DOING
        if verb.name in reasons
        for noun in nouns_of(verb.what)
        for adjective in adjectives_for(noun)
        if adjective.english in reasons[verb.name].split() and noun.english and not noun.pair
    )


def reasoned(draw: Draw) -> Sentence:
    """Anna stays at home because she is ill, although it is warm."""
    link = draw.pick((BECAUSE, BECAUSE, ALTHOUGH))
    subject = personal_subject(draw)
    main = action(draw, ON_PURPOSE, subject=subject, mode=draw.pick(PLAIN), extras=0.3, deny=0.25)
    main = replace(main, often=None)
    reason = reason_for(draw, main, link)
    turned = isinstance(subject, Pronoun) and draw.chance(0.35)
    return Sentence(main, link=link, other=reason, turned=turned)


def reason_for(draw: Draw, main: Clause, link: Link) -> Clause:
    """What speaks for it, or against it."""
    pronoun, mode = referring(main.subject), OF_TENSE[main.tense]
    against = main.negated is (link is BECAUSE)
    kind = draw.number(0, 3)
    if kind == 0:
        return falling(draw, mode)
    if kind == 1 and against:
        modal = MUST if mode is PRESENT else HAD
        return action(draw, DUTIES, subject=pronoun, mode=Mode(mode.tense, modal), extras=0.15)
    if kind == 2 and against:
        nothing = NounPhrase(NO, NOUN["money" if main.verb.name == "buy" else "time"])
        return Clause(subject=pronoun, verb=HAVE, tense=mode.tense, direct=nothing)
    return feeling_of(draw, main.verb, pronoun, mode, against=against)


def personal_subject(draw: Draw) -> Phrase:
    """A person whom a pronoun can name again."""
    subject = somebody(draw, known=True)
    return subject if names_again(subject) else draw.pick(PERSONAL)


def feeling_of(
    draw: Draw, verb: Verb, subject: Phrase, mode: Mode, *, against: bool = False
) -> Clause:
    """She is hungry, if she eats; tired, if she sleeps; the contrary, if she does not."""
    moods = MOODS_OF.get(verb.name, "happy").split()
    if against:
        moods = ["happy"] if "happy" not in moods else ["tired", "ill", "sad"]
    feeling = Quality(ADJECTIVE[draw.pick(moods)])
    feeling = replace(feeling, degree=draw.pick(degrees_of(feeling.adjective)))
    if feeling.degree is TOO:
        feeling = replace(feeling, degree=VERY)
    return Clause(subject=subject, verb=BE, tense=mode.tense, predicate=feeling)


def thing_reasoned(draw: Draw) -> Sentence:
    """I buy the lamp because it is cheap: weil sie billig ist."""
    link = draw.pick((BECAUSE, ALTHOUGH))
    verb, noun, adjective = draw.pick(arguments(link))
    draw.named.add(noun.name)
    subject = somebody(draw, known=True)
    mode = fitting(verb, subject, draw.pick(PLAIN), negated=False)
    direct = noun_phrase(draw, noun, STUFF if "mass" in noun.kinds else SOMETHING)
    if direct.quality and direct.quality.adjective is adjective:
        direct = replace(direct, quality=None)
    main = Clause(subject=subject, verb=verb, tense=mode.tense, direct=direct)
    said = Quality(adjective, draw.pick(degrees_of(adjective)[1:] or (None,)))
    reason = Clause(subject=IT[noun.gender], verb=BE, tense=mode.tense, predicate=said)
    return Sentence(main, link=link, other=reason)


def conditional(draw: Draw) -> Sentence:
    """When it rains, she stays at home. If you have time, you can help me."""
    pronoun = draw.pick(PERSONAL)
    turned = draw.chance(0.6)
    kind = draw.number(0, 4)
    if kind == 0:
        young = Quality(ADJECTIVE[draw.pick(("young", "ill", "poor"))])
        once = Clause(subject=pronoun, verb=BE, tense=Tense.PAST, predicate=young)
        main = action(draw, BY_PERSONS, subject=pronoun, mode=PAST, extras=0.1)
        return Sentence(main, link=WHEN_ONCE, other=once, turned=turned)
    if kind == 1:
        main = action(draw, ON_PURPOSE, subject=pronoun, mode=PRESENT, extras=0.2)
        other = feeling_of(draw, main.verb, pronoun, PRESENT)
        return Sentence(main, link=WHEN, other=other, turned=turned)
    if kind == 2:
        main = action(draw, ON_PURPOSE, mode=PRESENT, extras=0.2)
        return Sentence(main, link=WHEN, other=draw.pick(WEATHERS), turned=turned)
    modal = draw.pick((CAN, SHOULD, MUST, WILL))
    main = action(draw, ON_PURPOSE, subject=pronoun, mode=Mode(Tense.PRESENT, modal), extras=0.2)
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
    """While the children sleep, she reads. He waits until the train arrives."""
    mode = draw.pick(PLAIN)
    link = draw.pick((WHILE, WHILE, BEFORE, UNTIL))
    if link is WHILE:
        main, other = two_actions(draw, mode)
        return Sentence(main, link=link, other=other, turned=draw.chance(0.4))
    if link is UNTIL:
        main = action(draw, ALONE, subject=somebody(draw, known=True), mode=mode, extras=0.2)
        other = action(draw, COMING, mode=mode, extras=0.0)
        return Sentence(main, link=link, other=other)
    subject = personal_subject(draw)
    main = action(draw, BEFOREHAND, subject=subject, mode=mode, extras=0.1)
    other = action(draw, LEAVING, subject=referring(subject), mode=mode, extras=0.1)
    turned = isinstance(subject, Pronoun) and draw.chance(0.5)
    return Sentence(
        replace(main, often=None), link=link, other=replace(other, often=None), turned=turned
    )


def two_actions(draw: Draw, mode: Mode) -> tuple[Clause, Clause]:
    """Two persons, each with something to do."""
    first = action(draw, DURING, subject=somebody(draw, known=True), mode=mode, extras=0.15)
    other: Phrase = name(draw) or sure(draw, "person")
    second = action(draw, DURING, subject=other, mode=mode, extras=0.15)
    return replace(first, often=None), replace(second, often=None)


def joined(draw: Draw) -> Sentence:
    """The boy sings, and his sister dances. She wants to sleep, but she has to work."""
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
        other = action(draw, DUTIES, subject=pronoun, mode=Mode(mode.tense, duty), extras=0.1)
        return Sentence(main, link=link, other=other)
    if draw.chance(0.5):
        main = falling(draw, mode)
        other = action(draw, ON_PURPOSE, subject=subject, mode=mode, extras=0.2, deny=0.3)
        return Sentence(main, link=link, other=replace(other, often=None))
    other = action(draw, ON_PURPOSE, subject=pronoun, mode=mode, extras=0.2, deny=0.3)
    main = feeling_of(draw, other.verb, subject, mode, against=other.negated)
    return Sentence(main, link=link, other=replace(other, often=None))


def contrasted(draw: Draw) -> Sentence:
    """The shirt is cheap, but it is too small (es, for das Hemd)."""
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
    """Every thing with two qualities that do not go together of themselves."""
    return tuple(
        (noun, first, second)
        for noun in nouns_of(CONTRASTED)
        if not noun.pair
        for first in adjectives_for(noun)
        for second in adjectives_for(noun)
        if second.english in CONTRASTS.get(first.english, "").split()
    )
