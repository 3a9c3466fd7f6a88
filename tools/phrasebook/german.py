"""German text of an abstract sentence.

A clause has the fields of German grammar: one part before the finite verb, the middle field, and
the closing bracket (prefix, participle, infinitive). In a subordinate clause the finite verb comes
after the bracket.
"""

from dataclasses import dataclass, replace
from typing import final

from tools.phrasebook.declension import (
    adjective_form,
    contracted,
    gender_of,
    noun_form,
)
from tools.phrasebook.particles import BARE, NO, A
from tools.phrasebook.sentence import (
    Adverbial,
    Clause,
    Mood,
    NounPhrase,
    Phrase,
    Quality,
    Role,
    Sentence,
    Tense,
)
from tools.phrasebook.verbs import HABEN, SEIN
from tools.phrasebook.words import Adverb, Case, Name, Person, Pronoun

NOMINATIVE, ACCUSATIVE, DATIVE = Case.NOMINATIVE, Case.ACCUSATIVE, Case.DATIVE


@final
@dataclass(frozen=True, slots=True)
class Fields:
    """The parts of a German clause before their order is decided by the kind of clause."""

    front: str  # "" if no part comes before the verb
    subject: str  # "" if it is in front
    finite: str
    reflexive: str
    middle: list[str]
    bracket: str
    prefix: str  # the separable prefix of the finite verb
    after: str  # a relative clause that follows the bracket

    def inner(self) -> list[str]:
        """Return subject and middle field in order: "setzt er sich", but "setzt sich das Kind"."""
        if self.subject in ("ich", "du", "er", "sie", "es", "wir"):
            return [self.subject, self.reflexive, *self.middle]
        return [self.reflexive, self.subject, *self.middle]


def german(sentence: Sentence) -> str:
    """Return the German text of a sentence, with capital letter and final mark."""
    asked = sentence.mood is Mood.QUESTION
    first = inverted(sentence.main) if asked else verb_second(sentence.main)
    link, other = sentence.link, sentence.other
    if link and other:
        second = _spaced(link.german, LAYOUTS[link.verb](other))
        if sentence.turned:
            first = f"{second}, {inverted(sentence.main)}"
        else:
            first += f", {second}" if link.german_comma else f" {second}"
    text = first.replace(",,", ",").removesuffix(",")  # one comma ends two clauses
    return text[0].upper() + text[1:] + ("?" if asked else ".")


def verb_second(clause: Clause) -> str:
    """Return a German clause with the verb second: "Am Montag ruft sie mich an"."""
    if clause.verb.has("swapped") and clause.front is None:
        clause = replace(clause, front=Role.DIRECT)
    parts = fields(clause)
    if parts.front:
        return _inverted(parts)
    closing = (parts.reflexive, *parts.middle, parts.bracket, parts.prefix)
    return _spaced(parts.subject, parts.finite, *closing) + parts.after


def inverted(clause: Clause) -> str:
    """Return a German clause with the verb first: "Ruft sie mich an?"."""
    return _inverted(fields(clause))


def verb_last(clause: Clause) -> str:
    """Return a German subordinate clause: "(weil) sie mich am Montag anruft"."""
    parts = fields(clause)
    closing = (*parts.inner(), parts.bracket, parts.prefix + parts.finite)
    return _spaced(parts.front, *closing) + parts.after


def infinitive(clause: Clause) -> str:
    """Return a German infinitive clause with zu: "(sie versucht,) die Tür aufzumachen"."""
    middle = middle_field(clause, clause.direct, clause.indirect)
    return _spaced(reflexive_of(clause), *middle, clause.verb.german.with_zu)


LAYOUTS = {
    "last": verb_last,
    "second": verb_second,
    "inverted": inverted,
    "infinitive": infinitive,
}


def _spaced(*words: str) -> str:
    """Join the words that are not empty with spaces."""
    return " ".join(filter(None, words))


def _inverted(parts: Fields) -> str:
    """Return the text of a clause with the finite verb before the subject."""
    closing = (*parts.inner(), parts.bracket, parts.prefix)
    return _spaced(parts.front, parts.finite, *closing) + parts.after


def fields(clause: Clause) -> Fields:
    """Return the parts of a clause as the Fields of German word order."""
    if clause.verb.has("swapped"):
        return _pleasing(clause)
    finite, bracket, prefix = verb_forms(clause, person(clause.subject))
    front = _front(clause)
    subject = "" if clause.front is Role.SUBJECT else _subject(clause.subject)
    reflexive = reflexive_of(clause)
    middle = middle_field(clause, clause.direct, clause.indirect)
    after = ""
    if isinstance(clause.direct, NounPhrase) and clause.direct.relative:
        after = f", {verb_last(clause.direct.relative)},"
    return Fields(front, subject, finite, reflexive, middle, bracket, prefix, after)


def reflexive_of(clause: Clause) -> str:
    """Return the reflexive pronoun of a clause (sich, mich), "" if its verb has none."""
    if not clause.verb.german.reflexive:
        return ""
    return clause.subject.reflexive if isinstance(clause.subject, Pronoun) else "sich"


def _pleasing(clause: Clause) -> Fields:
    """Return the fields of a clause with gefallen, where the thing liked is the subject.

    weil mir das Kleid gefällt
    """
    thing = clause.direct
    assert thing is not None
    finite, bracket, prefix = verb_forms(clause, person(thing))
    liker, liked = phrase(clause.subject, DATIVE), phrase(thing, NOMINATIVE)
    front, subject = "", f"{liker} {liked}"
    if clause.front is Role.DIRECT:
        front, subject = liked, liker
    elif clause.front is Role.SUBJECT:
        front, subject = liker, liked
    middle = middle_field(clause, None, None)
    return Fields(front, subject, finite, "", middle, bracket, prefix, "")


def _subject(part: Phrase) -> str:
    """Return the German text of a subject with its relative clause."""
    text = phrase(part, NOMINATIVE)
    if isinstance(part, NounPhrase) and part.relative:
        return f"{text}, {verb_last(part.relative)},"
    return text


def _front(clause: Clause) -> str:
    """Return the text of the part that was moved before the verb, or ""."""
    front = clause.front
    if clause.verb.has("there") and clause.place:
        return adverbial(clause.place)
    if front is None:
        return ""
    if not isinstance(front, Role):
        return adverbial(front)
    if front is Role.DIRECT and clause.direct:
        return phrase(clause.direct, ACCUSATIVE)
    if front is Role.INDIRECT and clause.indirect:
        return phrase(clause.indirect, DATIVE)
    return phrase(clause.subject, NOMINATIVE)


def verb_forms(clause: Clause, who: Person) -> tuple[str, str, str]:
    """Return a clause's finite verb, infinitive or participle at its end, separable prefix."""
    verb, modal = clause.verb.german, clause.modal
    if modal and modal.german:
        return modal.german[who], verb.infinitive, ""
    if clause.tense is Tense.PRESENT:
        return verb.present[who], "", verb.prefix
    if verb.preterite:
        return verb.preterite[who], "", verb.prefix
    return (SEIN if verb.with_sein else HABEN).present[who], verb.participle, ""


def middle_field(clause: Clause, direct: Phrase | None, dative: Phrase | None) -> list[str]:
    """List the German texts between the finite verb and the closing verb forms.

    "nicht" follows the time and precedes the manner; with it, known objects precede the time.
    """
    short, known, new = _objects(clause, direct, dative)
    times = [part.german for part in (clause.time, clause.often) if part]
    words = [*short, *times, *known]
    if clause.negated and not (_is_new(direct) or _is_new(clause.predicate)):  # with kein
        words = [*short, *known, *times, "nicht"]
    if clause.modal:
        words.append(clause.modal.adverb)
    if clause.manner:
        words.append(adverbial(clause.manner))
    place = "" if clause.place is None or clause.verb.has("there") else adverbial(clause.place)
    said = predicate(clause.predicate, denied=clause.negated) if clause.predicate else ""
    return [*words, new, said, place] if clause.verb.has("goal") else [*words, place, new, said]


def _objects(
    clause: Clause, direct: Phrase | None, dative: Phrase | None
) -> tuple[list[str], list[str], str]:
    """Return the objects still in the middle field: pronouns, known objects, new objects."""
    short: list[str] = []
    known: list[str] = []
    new = ""
    if direct and clause.front is not Role.DIRECT:
        text = phrase(direct, ACCUSATIVE, denied=clause.negated)
        if isinstance(direct, Pronoun):
            short.append(text)
        elif _is_new(direct):
            new = text
        else:
            known.append(text)
    if dative and clause.front is not Role.INDIRECT:
        (short if isinstance(dative, Pronoun) else known).insert(0, phrase(dative, DATIVE))
    return short, known, new


def _is_new(part: object) -> bool:
    """Return whether a part introduces something unknown: ein Hund, Äpfel."""
    return isinstance(part, NounPhrase) and not part.determiner.definite


def person(subject: Phrase) -> Person:
    """Return the grammatical person of a subject, which selects the German verb form."""
    if isinstance(subject, Pronoun):
        return subject.person
    return Person.THEY if isinstance(subject, NounPhrase) and subject.plural else Person.HE


def phrase(part: Phrase, case: Case, *, denied: bool = False) -> str:
    """Return the German text of a phrase in a case, without relative clause; `denied` is kein."""
    if isinstance(part, Pronoun):
        return part.german[case]
    if isinstance(part, Name):
        return part.text
    determiner = NO if denied and part.determiner in (A, BARE) else part.determiner
    gender = gender_of(part.noun, plural=part.plural)
    words = [determiner.german[gender][case]]
    if part.quality:
        if part.quality.degree:
            words.append(part.quality.degree.german)
        words.append(adjective_form(part.quality.adjective, determiner, gender, case))
    return _spaced(*words, noun_form(part.noun, gender, case))


def predicate(part: Quality | NounPhrase | Adverb, *, denied: bool) -> str:
    """Return the German text of a predicate of sein; a profession has no article."""
    if isinstance(part, Adverb):
        return part.german
    if isinstance(part, NounPhrase):
        bare = "profession" in part.noun.kinds and not (part.quality or denied)
        return part.noun.german if bare else phrase(part, NOMINATIVE, denied=denied)
    word = part.adjective.german
    if part.like:
        return f"so {word} wie {phrase(part.like, NOMINATIVE)}"
    return f"{part.degree.german} {word}" if part.degree else word


def adverbial(part: Adverbial) -> str:
    """Return the German text of an adverbial: heute, in der Küche, im Garten."""
    if isinstance(part, Adverb):
        return part.german
    preposition = part.preposition
    return contracted(preposition.german, phrase(part.phrase, preposition.case))
