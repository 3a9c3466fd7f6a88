"""English text of an abstract sentence: fixed word order, "do" in questions and negations."""

from dataclasses import dataclass
from typing import final

from tools.phrasebook.particles import DID, DO, QUESTION_WORDS
from tools.phrasebook.sentence import (
    Adverbial,
    Clause,
    Mood,
    NounPhrase,
    Phrase,
    Prepositional,
    Quality,
    Role,
    Sentence,
    Tense,
)
from tools.phrasebook.words import Adverb, Name, Person, Pronoun


def english(sentence: Sentence) -> str:
    """Return the English text of a sentence, with capital letter and final mark."""
    asked = sentence.mood is Mood.QUESTION
    text = main_clause(sentence.main, asked=asked)
    link, other = sentence.link, sentence.other
    if link and other:
        second = infinitive(other) if link.verb == "infinitive" else main_clause(other)
        second = f"{link.english} {second}" if link.english else second
        if sentence.turned:
            text = f"{second}, {text}"
        else:
            text = f"{text}, {second}" if link.english_comma else f"{text} {second}"
    return text[0].upper() + text[1:] + ("?" if asked else ".")


def main_clause(clause: Clause, *, asked: bool = False) -> str:
    """Return the English text of a clause; `asked` puts the first verb before the subject."""
    inverted = asked and clause.front is not Role.SUBJECT
    group = verb_group(clause, inverted=inverted)
    subject = "there" if clause.verb.has("there") else phrase(clause.subject)
    often = clause.often.english if clause.often else ""
    if inverted:
        words = [group.finite, subject, "not" if clause.negated else "", often]
    elif group.helps:
        words = [subject, _denied(group.finite) if clause.negated else group.finite, often]
    else:
        words = [subject, often, group.finite]
    words += [group.rest, *after_verb(clause)]
    return _opened(clause, asked=asked) + " ".join(filter(None, words))


def _denied(finite: str) -> str:
    return "cannot" if finite == "can" else f"{finite} not"


def _opened(clause: Clause, *, asked: bool) -> str:
    """Return the words before the subject with a space; in a statement a comma ends them."""
    front = clause.front
    if front is None or front is Role.SUBJECT:
        return ""
    if isinstance(front, Role):
        part = clause.direct if front is Role.DIRECT else clause.indirect
        assert part is not None
        return phrase(part, as_object=True) + " "
    text = adverbial(front)
    return f"{text} " if asked or front in QUESTION_WORDS else f"{text}, "


@final
@dataclass(frozen=True, slots=True)
class VerbGroup:
    """The finite verb, the words after "not", and whether the finite verb is an auxiliary."""

    finite: str
    rest: str
    helps: bool


def verb_group(clause: Clause, *, inverted: bool) -> VerbGroup:
    """Return the verb group of a clause: "does (not) have to read", "was (not)", "reads"."""
    verb, who = clause.verb.english, person(clause.subject)
    if clause.modal:
        modal = clause.modal
        forms, tail = (
            modal.asked if inverted else modal.denied if clause.negated else modal.affirmed
        )
        return VerbGroup(forms[who], f"{tail} {verb.base}".lstrip(), helps=True)
    past = clause.tense is Tense.PAST
    forms = verb.past if past else verb.present
    if verb.auxiliary:
        return VerbGroup(forms[who], "", helps=True)
    if inverted or clause.negated:
        return VerbGroup((DID if past else DO)[who], verb.base, helps=True)
    return VerbGroup(forms[who], "", helps=False)


def after_verb(clause: Clause) -> list[str]:
    """List the texts after the verb: particle, objects, predicate, manner, place, time.

    A short object precedes a separable particle (picks me up), and a goal precedes the manner.
    """
    verb = clause.verb
    late = verb.has("parting") and isinstance(clause.direct, Pronoun)
    words = [] if late else [verb.english.particle]
    if clause.indirect and clause.front is not Role.INDIRECT:
        words.append(phrase(clause.indirect, as_object=True))
    if clause.direct and clause.front is not Role.DIRECT:
        words.append(phrase(clause.direct, as_object=True))
    if late:
        words.append(verb.english.particle)
    if verb.has("there"):
        words.append(phrase(clause.subject))
    if clause.predicate:
        words.append(predicate(clause.predicate))
    how = [adverbial(part) for part in (clause.manner, clause.place) if part]
    words += reversed(how) if verb.has("goal") else how
    if clause.time:
        words.append(clause.time.english)
    return words


def infinitive(clause: Clause) -> str:
    """Return an English infinitive clause without subject: "open the door"."""
    return " ".join(filter(None, (clause.verb.english.base, *after_verb(clause))))


def person(subject: Phrase) -> Person:
    """Return the grammatical person of a subject, which selects the English verb form."""
    if isinstance(subject, Pronoun):
        return subject.person
    if isinstance(subject, NounPhrase) and (subject.plural or subject.noun.pair):
        return Person.THEY
    return Person.HE


def phrase(part: Phrase, *, as_object: bool = False) -> str:
    """Return the English text of a phrase as subject or object."""
    if isinstance(part, Pronoun):
        return part.object if as_object else part.subject
    if isinstance(part, Name):
        return part.text
    return noun_phrase(part)


def noun_phrase(part: NounPhrase) -> str:
    """Return the English text of a noun phrase: "an old man who lives here"."""
    noun = part.noun
    plural = part.plural or noun.pair
    determiner = part.determiner.english_plural if plural else part.determiner.english
    words = noun.plural if part.plural else noun.english
    if part.quality:
        words = f"{quality(part.quality)} {words}"
    if determiner == "a" and words[0] in "aeiou":  # no word here begins with a silent h or "you"
        determiner = "an"
    text = f"{determiner} {words}" if determiner else words
    return f"{text} {main_clause(part.relative)}" if part.relative else text


def quality(part: Quality) -> str:
    """Return the English text of a quality: "very old", "as old as Anna"."""
    if part.like:
        return f"as {part.adjective.english} as {phrase(part.like, as_object=True)}"
    if part.degree:
        return f"{part.degree.english} {part.adjective.english}"
    return part.adjective.english


def predicate(part: Quality | NounPhrase | Adverb) -> str:
    """Return the English text of a predicate of "be"."""
    if isinstance(part, Quality):
        return quality(part)
    return noun_phrase(part) if isinstance(part, NounPhrase) else part.english


def adverbial(part: Adverbial) -> str:
    """Return the English text of an adverbial: "today", "in the kitchen"."""
    if isinstance(part, Prepositional):
        return f"{part.preposition.english} {phrase(part.phrase, as_object=True)}"
    return part.english
