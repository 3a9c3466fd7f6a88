"""Sentences of one clause: statements and questions."""

from dataclasses import replace

from tools.phrasebook.clauses import (
    ACTIONS,
    BY_PERSONS,
    PLAIN,
    PRESENT,
    action,
    named,
    spot,
)
from tools.phrasebook.draw import Draw
from tools.phrasebook.nouns import NOUN
from tools.phrasebook.particles import (
    BARE,
    COUNTS,
    HOW_MANY,
    LIKES,
    MANNER,
    MANY,
    NO,
    WHAT,
    WHEN_ASKED,
    WHERE,
    WHERE_TO,
    WHICH,
    WHO,
    WHY,
    A,
)
from tools.phrasebook.phrases import NEAR, fresh, noun_phrase, somebody, sure
from tools.phrasebook.places import IN, spots
from tools.phrasebook.sentence import Clause, Mood, Phrase, Prepositional, Role, Sentence
from tools.phrasebook.times import ALWAYS_POSSIBLE, HABITS, SEASONS
from tools.phrasebook.verbs import (
    DOING,
    GIVING,
    HELPING,
    INTRANSITIVE,
    MOVING,
    PLEASING,
    RESTING,
    RISING,
    THERE_IS,
)

# Kinds of nouns, and the places for them in sentences such as "There is a cat under the table."
FOUND = (
    ("pet", "garden street park underneath behind front"),
    ("person horse", "garden street park station behind front"),
    ("flat upright bag picture", "surface underneath inside"),
    ("food", "kitchen cupboard"),
    ("furniture", "kitchen garden"),
    ("tree flower", "garden park behind front"),
    ("vehicle", "street behind front"),
)
FILLED = ("drink", "cup glass bottle")


def statement(draw: Draw) -> Sentence:
    """Draw a statement: "Am Montag hat der alte Mann die Zeitung gelesen"."""
    clause = action(draw, deny=0.17)
    if clause.time and draw.chance(0.35):
        clause = replace(clause, front=clause.time, time=None)
    return Sentence(clause)


def yes_no(draw: Draw) -> Sentence:
    """Draw a question for yes or no: "Did she get up at half past four?"."""
    verb = draw.pick(ACTIONS)
    subject = somebody(draw, known=True, kinds=verb.who)
    return Sentence(action(draw, (verb,), subject=subject), Mood.QUESTION)


def who(draw: Draw) -> Sentence:
    """Draw a question for the subject: "Who bought the lamp?"."""
    clause = action(draw, BY_PERSONS, subject=WHO, mode=draw.pick(PLAIN))
    return Sentence(replace(clause, front=Role.SUBJECT, often=None), Mood.QUESTION)


def what(draw: Draw) -> Sentence:
    """Draw a question for the object: "What does she buy?"."""
    return Sentence(asking_object(draw), Mood.QUESTION)


def asking_object(draw: Draw, subject: Phrase | None = None) -> Clause:
    """Draw the clause of a direct or indirect question for the object."""
    verb = draw.pick(DOING)
    subject = subject or somebody(draw, known=True, kinds=verb.who)
    clause = action(draw, (verb,), subject=subject, extras=0.5)
    kinds = verb.what.split()
    asked: Phrase = WHO if kinds == ["person"] else WHAT
    if kinds == ["person"] and draw.chance(0.3):
        asked = noun_phrase(draw, fresh(draw, "man woman boy student neighbour guest"), (WHICH,))
    elif kinds != ["person"] and draw.chance(0.5):
        noun = fresh(draw, " ".join(kind for kind in kinds if kind != "person"))
        many = (HOW_MANY, WHICH) if noun.plural else ()
        asked = noun_phrase(draw, noun, (WHICH,), many)
    elif "person" in kinds and draw.chance(0.5):
        asked = WHO
    return replace(clause, direct=asked, front=Role.DIRECT, often=None)


def when_where_why(draw: Draw) -> Sentence:
    """Draw a question for a circumstance: "Where does she work?"."""
    return Sentence(asking_circumstance(draw), Mood.QUESTION)


def asking_circumstance(draw: Draw, subject: Phrase | None = None) -> Clause:
    """Draw the clause of a direct or indirect question for time, place or reason."""
    word = draw.pick((WHERE, WHERE_TO, WHEN_ASKED, WHY))
    verbs = {
        WHERE: LOCATED,
        WHERE_TO: MOVING,
        WHEN_ASKED: INTRANSITIVE + RISING * 2 + MOVING + DOING + GIVING,
        WHY: ACTIONS,
    }[word]
    verb = draw.pick(verbs)
    if subject is None or "person" not in verb.who.split():
        subject = somebody(draw, known=True, kinds=verb.who)
    clause = action(draw, (verb,), subject=subject, extras=0.5)
    clause = replace(clause, often=None, front=word)
    if word in (WHERE, WHERE_TO):
        return replace(clause, place=None)
    return replace(clause, time=None) if word is WHEN_ASKED else clause


LOCATED = tuple(verb for verb in INTRANSITIVE + RESTING + DOING if verb.where)


def whom(draw: Draw) -> Sentence:
    """Draw a question for a dative object: "Who did you help?" (Wem hast du geholfen?)"""
    verb = draw.pick(HELPING)
    subject = somebody(draw, known=True, kinds=verb.who)
    clause = action(draw, (verb,), subject=subject, extras=0.5)
    asked: Phrase = WHO
    if draw.chance(0.4):
        people = fresh(draw, "man woman child teacher neighbour student guest")
        asked = noun_phrase(draw, people, (WHICH,))
    clause = replace(clause, indirect=asked, front=Role.INDIRECT, often=None)
    return Sentence(clause, Mood.QUESTION)


def gladly(draw: Draw) -> Sentence:
    """Draw a sentence of liking to do something: "She likes to read" (Sie liest gern)."""
    clause = action(draw, ENJOYED, subject=somebody(draw, known=True), mode=PRESENT, extras=0.35)
    time = draw.pick(HABITUAL) if draw.chance(0.3) else None
    clause = replace(clause, modal=LIKES, often=None, time=time, negated=draw.chance(0.2))
    if clause.manner is MANNER["well"]:  # not "likes to dance well"
        clause = replace(clause, manner=None)
    if clause.direct:  # in general: she likes to drink cold milk
        noun = fresh(draw, clause.verb.what.replace("clothes", "shirt dress coat jacket hat shoes"))
        direct = noun_phrase(draw, noun, (BARE,), (BARE,))
        if not direct.plural and noun.plural:
            direct = replace(direct, plural=True)
        clause = replace(clause, direct=direct, manner=None, negated=False)
    return Sentence(
        clause, Mood.QUESTION if draw.chance(0.2) and not clause.negated else Mood.STATEMENT
    )


def pleasing(draw: Draw) -> Sentence:
    """Draw a sentence with gefallen: "I like the blue dress" (Das blaue Kleid gefällt mir)."""
    subject = somebody(draw, known=True)
    thing: Phrase = sure(draw, PLEASING.what)
    asked = draw.chance(0.3)
    front = None
    if asked and draw.chance(0.5):
        front = draw.pick((Role.DIRECT, Role.SUBJECT))
    if front is Role.DIRECT:
        thing = noun_phrase(draw, fresh(draw, PLEASING.what), (WHICH,), (WHICH,))
    clause = Clause(
        subject=WHO if front is Role.SUBJECT else subject,
        verb=PLEASING,
        tense=draw.pick(PLAIN).tense,
        negated=not asked and draw.chance(0.25),
        direct=thing,
        front=front,
    )
    return Sentence(clause, Mood.QUESTION if asked else Mood.STATEMENT)


def existing(draw: Draw) -> Sentence:
    """Draw a sentence with "there is": "There is a cat under the table"."""
    if draw.chance(0.2):
        kinds, vessels = FILLED
        vessel = noun_phrase(draw, NOUN[draw.pick(vessels.split())], NEAR)
        place = Prepositional(IN, replace(vessel, quality=None))  # a filled vessel is not "empty"
    else:
        kinds, where = draw.pick(FOUND)
        place = spot(draw, spots(where))
    noun = fresh(draw, kinds)
    one = (BARE, NO) if "mass" in noun.kinds else (A, A, A, NO)
    subject = noun_phrase(draw, noun, one, (NO, MANY, *COUNTS[:4]) if noun.plural else ())
    clause = Clause(subject=subject, verb=THERE_IS, tense=draw.pick(PLAIN).tense, place=place)
    return Sentence(clause)


HABITUAL = (*ALWAYS_POSSIBLE[1:], *HABITS[:-1], *SEASONS)
ENJOYED = named("sleep, work, dance, sing, swim, travel, eat, drink, read, cook, wear")
