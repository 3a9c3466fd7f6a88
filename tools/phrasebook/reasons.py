"""Sentences with because or although: an action and a mood, the weather or a quality."""

from dataclasses import replace
from functools import cache

from tools.phrasebook.adjectives import (
    ADJECTIVE,
    COLOURS,
    TOO,
    VERY,
    adjectives_for,
    degrees_of,
)
from tools.phrasebook.being import falling
from tools.phrasebook.clauses import (
    OF_TENSE,
    ON_PURPOSE,
    PLAIN,
    PRESENT,
    Mode,
    action,
    fitting,
    named,
)
from tools.phrasebook.draw import Draw
from tools.phrasebook.nouns import NOUN, nouns_of
from tools.phrasebook.particles import ALTHOUGH, BECAUSE, HAD, IT, MUST, NO, PERSONAL
from tools.phrasebook.phrases import (
    SOMETHING,
    STUFF,
    names_again,
    noun_phrase,
    referring,
    somebody,
)
from tools.phrasebook.sentence import Clause, NounPhrase, Phrase, Quality, Sentence
from tools.phrasebook.verbs import BE, DOING, HAVE
from tools.phrasebook.words import Adjective, Link, Noun, Pronoun, Verb

# From a verb to the qualities of a thing that are reasons for the action, and reasons against it.
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
# From a verb to the moods that are reasons for the action; for other verbs the mood is happy.
MOODS_OF = {
    "sleep": "tired ill", "rest": "tired ill", "stay": "tired ill sad", "sit down": "tired ill",
    "come back": "tired ill", "fall asleep": "tired", "sit": "sad tired",
    "go": "happy sad", "wait": "sad", "work": "sad", "thank": "happy", "eat": "hungry",
    "cook": "hungry", "drink": "thirsty",
}  # fmt: skip
DUTIES = named("work, sleep, travel, cook, help, tidy up, visit, pick up, wash, go")


@cache
def arguments(link: Link) -> tuple[tuple[Verb, Noun, Adjective], ...]:
    """Return all (verb, noun, adjective) that make sense with because, or with although."""
    reasons = FOR_IT if link is BECAUSE else AGAINST_IT
    return tuple(
        (verb, noun, adjective)
        for verb in DOING
        if verb.name in reasons
        for noun in nouns_of(verb.what)
        if noun.kinds.isdisjoint(("person", "animal"))  # "it" refers to things only
        for adjective in adjectives_for(noun)
        if adjective.english in reasons[verb.name].split() and noun.english and not noun.pair
    )


def reasoned(draw: Draw) -> Sentence:
    """Draw a sentence with a reason: "Anna stays at home because she is ill"."""
    link = draw.pick((BECAUSE, BECAUSE, ALTHOUGH))
    subject = personal_subject(draw)
    main = action(draw, ON_PURPOSE, subject=subject, mode=draw.pick(PLAIN), extras=0.3, deny=0.25)
    main = replace(main, often=None)
    reason = reason_for(draw, main, link)
    turned = isinstance(subject, Pronoun) and draw.chance(0.35)
    return Sentence(main, link=link, other=reason, turned=turned)


def reason_for(draw: Draw, main: Clause, link: Link) -> Clause:
    """Draw a clause that is a reason for the main clause, or against it with although."""
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
    """Draw a person as subject to which a pronoun can refer in the second clause."""
    subject = somebody(draw, known=True)
    if isinstance(subject, NounPhrase):
        subject = replace(subject, quality=None)
    return subject if names_again(subject) else draw.pick(PERSONAL)


def feeling_of(
    draw: Draw, verb: Verb, subject: Phrase, mode: Mode, *, against: bool = False
) -> Clause:
    """Draw a clause about the subject's mood that fits an action: hungry for eating."""
    moods = MOODS_OF.get(verb.name, "happy").split()
    if against:
        moods = ["happy"] if "happy" not in moods else ["tired", "ill", "sad"]
    feeling = Quality(ADJECTIVE[draw.pick(moods)])
    feeling = replace(feeling, degree=draw.pick(degrees_of(feeling.adjective)))
    if feeling.degree is TOO:
        feeling = replace(feeling, degree=VERY)
    return Clause(subject=subject, verb=BE, tense=mode.tense, predicate=feeling)


def thing_reasoned(draw: Draw) -> Sentence:
    """Draw a sentence with a thing's quality as reason: "I buy the lamp because it is cheap"."""
    link = draw.pick((BECAUSE, ALTHOUGH))
    verb, noun, adjective = draw.pick(arguments(link))
    draw.named.add(noun.name)
    subject = somebody(draw, known=True)
    mode = fitting(verb, subject, draw.pick(PLAIN), negated=False)
    direct = noun_phrase(draw, noun, STUFF if "mass" in noun.kinds else SOMETHING)
    if direct.quality and direct.quality.adjective.english not in COLOURS:
        direct = replace(direct, quality=None)
    main = Clause(subject=subject, verb=verb, tense=mode.tense, direct=direct)
    degrees = degrees_of(adjective)
    if link is BECAUSE and verb.name not in ("sell", "throw away"):  # not "because it is too good"
        degrees = tuple(degree for degree in degrees if degree is not TOO)
    said = Quality(adjective, draw.pick(degrees))
    reason = Clause(subject=IT[noun.gender], verb=BE, tense=mode.tense, predicate=said)
    return Sentence(main, link=link, other=reason)
