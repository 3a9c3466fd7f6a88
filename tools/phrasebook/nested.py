"""Sentences with a subordinate clause: that, whether, infinitive, and relative clauses."""

from dataclasses import replace
from functools import cache

from tools.phrasebook.adjectives import adjectives_for
from tools.phrasebook.being import quality_of, weather, weather_of
from tools.phrasebook.clauses import (
    BY_PERSONS,
    PAST,
    PLAIN,
    PRESENT,
    WILLED,
    action,
    fitting,
    named,
)
from tools.phrasebook.declension import gender_of
from tools.phrasebook.draw import Draw
from tools.phrasebook.nouns import nouns_of
from tools.phrasebook.particles import (
    ALL,
    ASKED,
    DEFINITE,
    MANY,
    PERSONAL,
    THAT,
    THAT_RELATIVE,
    THIS,
    TO,
    WHETHER,
    WHO_RELATIVE,
    YOU,
    I,
)
from tools.phrasebook.phrases import fresh, name, noun_phrase, somebody, sure
from tools.phrasebook.sentence import (
    Clause,
    Mood,
    NounPhrase,
    Phrase,
    Quality,
    Role,
    Sentence,
    Tense,
)
from tools.phrasebook.simple import asking_circumstance, asking_object
from tools.phrasebook.times import NOW
from tools.phrasebook.verbs import (
    BE,
    DOING,
    FORGET_TO,
    HOPE,
    KNOW_THAT,
    SAY,
    STATES,
    THINK,
    TRY,
)
from tools.phrasebook.words import Noun, Verb


def thinking(draw: Draw) -> Sentence:
    """Draw a sentence with a that-clause: "She hopes that the train will arrive soon"."""
    verb = draw.pick((THINK, HOPE, SAY, KNOW_THAT))
    past = draw.chance(0.25)
    kind = draw.number(0, 5)
    asked = verb is not SAY and draw.chance(0.15)
    subject: Phrase = YOU if asked and draw.chance(0.5) else somebody(draw, known=True)
    if asked and subject is I:
        subject = YOU
    if kind == 0:
        content = weather_of(draw, PAST) if past else weather(draw).main
    elif kind == 1:
        content = quality_of(draw, mode=PAST if past else draw.pick(PLAIN))
    else:
        content = action(draw, mode=PAST if past else draw.pick(WILLED), extras=0.3, deny=0.1)
    negated = verb is THINK and not asked and draw.chance(0.3)
    tense = content.tense if past else Tense.PRESENT
    main = Clause(subject=subject, verb=verb, tense=tense, negated=negated)
    return Sentence(main, Mood.QUESTION if asked else Mood.STATEMENT, THAT, content)


def wondering(draw: Draw) -> Sentence:
    """Draw a sentence with an indirect question: "I do not know whether he works here"."""
    past = draw.chance(0.2)
    asked = not past and draw.chance(0.35)
    link = draw.pick((WHETHER, ASKED, ASKED))
    negated = not asked and (link is WHETHER or draw.chance(0.5))
    subject: Phrase = YOU if asked else somebody(draw, known=True)
    if link is WHETHER:
        content = action(draw, mode=PAST if past else draw.pick(WILLED), extras=0.3)
        content = replace(content, often=None)
    else:
        asking = draw.pick((asking_object, asking_circumstance))
        content = asking(draw, draw.pick(PERSONAL) if draw.chance(0.5) else None)
        past = past and content.tense is Tense.PAST
    tense = Tense.PAST if past else Tense.PRESENT
    main = Clause(subject=subject, verb=KNOW_THAT, tense=tense, negated=negated)
    return Sentence(main, Mood.QUESTION if asked else Mood.STATEMENT, link, content)


def intending(draw: Draw) -> Sentence:
    """Draw a sentence with an infinitive clause: "She tries to open the door"."""
    verb, purposes = draw.pick(INTENTIONS)
    subject = somebody(draw, known=True)
    content = action(draw, purposes, subject=subject, mode=PRESENT, extras=0.2)
    if content.time is NOW:
        content = replace(content, time=None)
    tense = draw.pick(PLAIN).tense
    negated = verb is not HOPE and draw.chance(0.12)
    main = Clause(subject=subject, verb=verb, tense=tense, negated=negated)
    return Sentence(main, link=TO, other=replace(content, often=None))


INTENTIONS = (
    (TRY, named("sleep, work, open, close, repair, understand, help, write, cook, "
                 "sell, come back, put, get up, fall asleep, read, sing, dance, swim")),
    (HOPE, named("visit, meet, buy, sell, see, come back, help, invite, travel, dance")),
    (FORGET_TO, named("close, turn off, buy, call, invite, wash, tidy up, bring, pick up, "
                       "thank, turn on, repair, put on")),
)  # fmt: skip


def described_subject(draw: Draw) -> Sentence:
    """Draw a sentence whose subject has a relative clause: "The man who lives here .."."""
    if draw.chance(0.5):
        subject = described_person(draw)
        if draw.chance(0.5):
            subject = replace(subject, quality=None)
            options = adjectives_for(subject.noun)
            said = Quality(draw.pick(options))
            return Sentence(
                Clause(subject=subject, verb=BE, tense=draw.pick(PLAIN).tense, predicate=said)
            )
        return Sentence(replace(action(draw, BY_PERSONS, subject=subject, extras=0.15), often=None))
    subject = replace(described_thing(draw, draw.pick(THINGS)), quality=None)
    said = Quality(draw.pick(adjectives_for(subject.noun)))
    return Sentence(Clause(subject=subject, verb=BE, tense=draw.pick(PLAIN).tense, predicate=said))


def described_object(draw: Draw) -> Sentence:
    """Draw a sentence whose object has a relative clause: "I know the woman who .."."""
    subject = somebody(draw, known=True)
    if draw.chance(0.5):
        verb = draw.pick(MEETING)
        direct = described_person(draw)
    else:
        noun = draw.pick(THINGS)
        direct = described_thing(draw, noun)
        told = direct.relative and direct.relative.verb
        verb = draw.pick([verb for verb in uses_of(noun) if verb is not told])
    mode = fitting(verb, subject, draw.pick(PLAIN), negated=False)
    main = Clause(subject=subject, verb=verb, tense=mode.tense, direct=direct)
    return Sentence(main)


def described_person(draw: Draw) -> NounPhrase:
    """Draw a noun phrase of a person with a relative clause: "the woman who sells bread"."""
    person = noun_phrase(draw, fresh(draw, PEOPLE), DESCRIBED, DESCRIBED_MANY)
    stands = WHO_RELATIVE[gender_of(person.noun, plural=person.plural)]
    if draw.chance(0.7):
        mode = draw.pick(PLAIN)
        said = action(draw, BY_PERSONS, subject=stands, mode=mode, extras=0.25, deny=0.08)
        said = replace(said, front=Role.SUBJECT, often=None)
    else:
        said = replace(short_action(draw, draw.pick(MEETING)), direct=stands, front=Role.DIRECT)
    return replace(person, relative=said)


def described_thing(draw: Draw, noun: Noun) -> NounPhrase:
    """Draw a noun phrase of a thing with a relative clause: "the book that she reads"."""
    draw.named.add(noun.name)
    thing = noun_phrase(draw, noun, DESCRIBED, DESCRIBED_MANY)
    stands = THAT_RELATIVE[gender_of(noun, plural=thing.plural)]
    said = replace(short_action(draw, draw.pick(uses_of(noun))), direct=stands, front=Role.DIRECT)
    return replace(thing, relative=said)


def short_action(draw: Draw, verb: Verb) -> Clause:
    """Draw a short clause with this verb, for use as a relative clause."""
    subject = draw.pick(PERSONAL) if draw.chance(0.6) else name(draw) or sure(draw, "person")
    mode = fitting(verb, subject, draw.pick(PLAIN), negated=False)
    return Clause(subject=subject, verb=verb, tense=mode.tense)


PEOPLE = "man woman boy girl child neighbour student teacher doctor guest"
DESCRIBED = (DEFINITE,) * 4 + (THIS,)
DESCRIBED_MANY = (DEFINITE,) * 4 + (THIS, ALL, MANY)
MEETING = tuple(verb for verb in DOING + STATES if "person" in verb.what.split())
THINGS = nouns_of("clothes print vessel small food furniture vehicle device flower")


@cache
def uses_of(noun: Noun) -> tuple[Verb, ...]:
    """Return the verbs that can have this thing as their object."""
    return tuple(verb for verb in DOING if noun in nouns_of(verb.what))
