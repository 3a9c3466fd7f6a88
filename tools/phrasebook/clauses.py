"""Random clauses that make sense, each from a verb and the nouns that its lexicon entry allows."""

from dataclasses import dataclass
from typing import final

from tools.phrasebook.draw import Draw
from tools.phrasebook.english import person
from tools.phrasebook.nouns import compounds_of
from tools.phrasebook.particles import (
    AT_HOME,
    BARE,
    CAN,
    COULD,
    HAD,
    HERE,
    HOME,
    MANNER,
    MAY,
    MUST,
    OFTEN,
    SHOULD,
    THERE,
    THEY,
    WANT,
    WANTED,
    WE,
    WILL,
    WOULD_LIKE,
    A,
)
from tools.phrasebook.phrases import NEAR, noun_phrase, other_person, somebody, something
from tools.phrasebook.places import FOR, WITH, Spot, goals, spots
from tools.phrasebook.sentence import (
    Adverbial,
    Clause,
    NounPhrase,
    Phrase,
    Prepositional,
    Tense,
)
from tools.phrasebook.times import (
    ALWAYS_POSSIBLE,
    EVERY_DAY,
    GONE,
    HABITS,
    MONTHS,
    SEASONS,
    TO_COME,
    TODAY,
    TOMORROW,
    YESTERDAY,
    clock,
    date,
    joined,
    month,
    weekday,
)
from tools.phrasebook.verbs import (
    BELONG,
    DOING,
    GIVING,
    HELPING,
    INTRANSITIVE,
    MOVING,
    PUTTING,
    RESTING,
    RISING,
    STATES,
)
from tools.phrasebook.words import Adverb, Modal, Person, Pronoun, Verb

ACTIONS: tuple[Verb, ...] = (
    INTRANSITIVE * 3 + RISING * 3 + RESTING * 3 + MOVING * 4 + DOING * 2 + STATES * 2 + PUTTING * 2
    + GIVING * 3 + HELPING * 3 + (BELONG,) * 5
)  # fmt: skip
BY_PERSONS = tuple(verb for verb in ACTIONS if "person" in verb.who.split())
ON_PURPOSE = tuple(verb for verb in BY_PERSONS if not (verb.has("state") or verb.has("unwilled")))


def named(names: str) -> tuple[Verb, ...]:
    """Return the verbs with these English names, which are separated by commas."""
    wanted = names.split(", ")
    return tuple(verb for verb in BY_PERSONS if verb.name in wanted)


@final
@dataclass(frozen=True, slots=True)
class Mode:
    """The tense of a clause, present or past, and its modal verb if it has one."""

    tense: Tense
    modal: Modal | None = None


PRESENT, PAST, FUTURE = Mode(Tense.PRESENT), Mode(Tense.PAST), Mode(Tense.PRESENT, WILL)
OF_TENSE = {Tense.PRESENT: PRESENT, Tense.PAST: PAST}
PLAIN = (PRESENT,) * 5 + (PAST,) * 4
WILLED = PLAIN * 4 + tuple(
    Mode(tense, modal)
    for tense, modals in (
        (Tense.PRESENT, (WILL, WILL, WILL, CAN, CAN, MUST, MUST, MAY, SHOULD, WANT, WOULD_LIKE)),
        (Tense.PAST, (COULD, HAD, WANTED)),
    )
    for modal in modals
)


def action(
    draw: Draw,
    verbs: tuple[Verb, ...] = ACTIONS,
    *,
    subject: Phrase | None = None,
    mode: Mode | None = None,
    extras: float = 0.8,
    deny: float = 0.0,
) -> Clause:
    """Draw a clause with one of the verbs; `extras` is P(adverbials), `deny` is P(negation)."""
    verb = verb_for(draw, verbs, mode)
    negated = draw.chance(deny)
    if subject is None:
        subject = somebody(draw, known=negated, kinds=verb.who)
    mode = fitting(verb, subject, mode or draw.pick(WILLED), negated=negated)
    direct = direct_object(draw, verb, subject)
    negated = negated and deniable(direct)
    bare = negated and is_new(direct)  # a clause negated by kein has no adverbial of manner
    place = manner = None
    if verb.has("placed") or (verb.where and draw.chance(extras * 0.7)):
        place = place_of(draw, verb)
    if verb.how and not bare and not isinstance(place, Adverb) and draw.chance(extras * 0.6):
        manner = manner_of(draw, verb, subject, direct)
    time, often = times_of(draw, verb, subject, mode, negated=negated, extras=extras)
    return Clause(
        subject=subject,
        verb=verb,
        tense=mode.tense,
        modal=mode.modal,
        negated=negated,
        direct=direct,
        indirect=other_person(draw, subject) if verb.whom else None,
        often=often,
        manner=manner,
        place=place,
        time=time,
    )


def times_of(
    draw: Draw, verb: Verb, subject: Phrase, mode: Mode, *, negated: bool, extras: float
) -> tuple[Adverb | None, Adverb | None]:
    """Draw an adverb of time, or else of frequency, for a clause; verbs of states have none."""
    if verb.has("state"):
        return None, None
    if draw.chance(extras):
        time = time_of(draw, verb, mode)
        return (None if negated and time in HABITS else time), None
    if draw.chance(extras * 0.5) and not negated and may_repeat(subject, mode):
        return None, draw.pick(OFTEN)
    return None, None


def verb_for(draw: Draw, verbs: tuple[Verb, ...], mode: Mode | None) -> Verb:
    """Draw a verb; for the past prefer verbs whose English past differs from the base form."""
    verb = draw.pick(verbs)
    if mode == PAST:
        for _ in range(9):
            if not alike(verb):
                break
            verb = draw.pick(verbs)
    return verb


def fitting(verb: Verb, subject: Phrase, mode: Mode, *, negated: bool) -> Mode:
    """Return the mode, without a modal or past that the verb and subject do not allow.

    A verb whose English past equals its base (read, put) is in the past only if the form shows the
    past: "he read" is past, but "we read" could be present or past.
    """
    if mode.modal and (verb.has("state") or verb.has("unwilled") or not _willing(subject)):
        mode = OF_TENSE[mode.tense]
    told = mode == PAST and not negated and person(subject) is not Person.HE
    return PRESENT if told and alike(verb) else mode


def alike(verb: Verb) -> bool:
    """Return whether a verb's English past and base forms are equal: read, put."""
    return verb.english.base == verb.english.past[0]


def _willing(subject: Phrase) -> bool:
    """Return whether a subject can want or decide something: a person."""
    return not isinstance(subject, NounPhrase) or "person" in subject.noun.kinds


def may_repeat(subject: Phrase, mode: Mode) -> bool:
    """Return whether "often" or "never" makes sense: a known subject, no modal verb."""
    return mode.modal is None and _willing(subject) and not is_new(subject)


def deniable(direct: Phrase | None) -> bool:
    """Return whether "not" is unambiguous with this object: not with many, some or two."""
    return not isinstance(direct, NounPhrase) or (
        direct.determiner.definite or direct.determiner in (A, BARE)
    )


def is_new(part: Phrase | None) -> bool:
    """Return whether a phrase introduces something unknown: "a dog", "apples"."""
    return isinstance(part, NounPhrase) and not part.determiner.definite


def direct_object(draw: Draw, verb: Verb, subject: Phrase) -> Phrase | None:
    """Draw a direct object that makes sense with a verb: a thing or a person."""
    if not verb.what:
        return None
    if "person" in verb.what.split() and draw.chance(0.75):
        return other_person(draw, subject)
    for how in ("owner", "general", "sure", "worn"):
        if verb.has(how):
            return something(draw, verb.what, how)
    return something(draw, verb.what)


def place_of(draw: Draw, verb: Verb) -> Adverbial:
    """Draw an adverbial of place or direction that makes sense with a verb."""
    goal = verb.has("goal")
    if draw.chance(0.12) and not (goal and verb.what):
        homely = not {"room", "kitchen"}.isdisjoint(verb.where.split())
        return HOME if goal else draw.pick((HERE, THERE, AT_HOME) if homely else (HERE, THERE))
    return spot(draw, goals(verb.where) if goal else spots(verb.where))


def spot(draw: Draw, options: tuple[Spot, ...]) -> Prepositional:
    """Draw one of these places as a prepositional phrase."""
    preposition, noun = draw.pick(options)
    for _ in range(9):
        if noun.name not in draw.named:
            break
        preposition, noun = draw.pick(options)
    draw.named.add(noun.name)
    if draw.chance(0.15) and compounds_of(noun):
        noun = draw.pick(compounds_of(noun))
    return Prepositional(preposition, noun_phrase(draw, noun, NEAR))


def manner_of(draw: Draw, verb: Verb, subject: Phrase, direct: Phrase | None) -> Adverbial | None:
    """Draw an adverbial of manner, company, beneficiary or means for a verb, or None."""
    how = draw.pick(verb.how.split())
    if how in ("with", "for"):
        if isinstance(direct, Pronoun):
            return None
        return Prepositional(WITH if how == "with" else FOR, other_person(draw, subject))
    if (how == "together" and not _several(subject)) or (how == "well" and is_new(direct)):
        return None
    return MANNER[how]


def _several(subject: Phrase) -> bool:
    """Return whether a subject is more than one person or thing."""
    return subject.plural if isinstance(subject, NounPhrase) else subject in (WE, THEY)


def time_of(draw: Draw, verb: Verb, mode: Mode) -> Adverb:
    """Draw an adverb of time: a day, an hour, or both."""
    if not draw.chance(0.6 if verb in RISING else 0.2):
        return day_of(draw, verb, mode)
    hour = clock(draw.number(1, 12), 5 * draw.number(0, 11))
    if draw.chance(0.65):
        return hour
    some = draw.pick(TIMED_DAYS[mode.tense, mode.modal is not None])
    return joined(some if draw.chance(0.5) else weekday(draw.number(0, 6)), hour)


def day_of(draw: Draw, verb: Verb, mode: Mode) -> Adverb:
    """Draw an adverb of a day, past or future as the mode requires."""
    if draw.chance(0.2):
        return weekday(draw.number(0, 6))
    if draw.chance(0.3):
        number = draw.number(0, 11)
        if verb.has("long") and draw.chance(0.5):
            return month(number)
        days = (1, 12) if draw.chance(0.35) else (13, 20) if draw.chance(0.5) else (21, 30)
        return date(min(draw.number(*days), MONTHS[number][2]), number)
    if verb.has("long") and draw.chance(0.2):
        return draw.pick(SEASONS)
    return draw.pick(OTHER_DAYS[mode.tense, mode.modal is not None])


OTHER_DAYS = {
    (Tense.PRESENT, False): ALWAYS_POSSIBLE + HABITS,
    (Tense.PRESENT, True): ALWAYS_POSSIBLE + TO_COME,
    (Tense.PAST, False): ALWAYS_POSSIBLE + GONE,
    (Tense.PAST, True): ALWAYS_POSSIBLE + GONE,
}
TIMED_DAYS = {
    (Tense.PRESENT, False): (TODAY, *EVERY_DAY),
    (Tense.PRESENT, True): (TODAY, TOMORROW),
    (Tense.PAST, False): (TODAY, YESTERDAY),
    (Tense.PAST, True): (YESTERDAY,),
}
