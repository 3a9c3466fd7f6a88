"""Whole sentences: one abstract sentence, both languages, against what a person would write."""

from dataclasses import replace

import pytest
from tools.phrasebook.adjectives import ADJECTIVE, TOO
from tools.phrasebook.english import english, phrase
from tools.phrasebook.german import german
from tools.phrasebook.nouns import LADY, NOUN
from tools.phrasebook.particles import (
    ALTHOUGH,
    AND,
    ASKED,
    BARE,
    BECAUSE,
    CAN,
    DEFINITE,
    HAD,
    HE,
    IT,
    LIKES,
    MANNER,
    MAY,
    MUST,
    NAMES,
    OFTEN,
    POSSESSIVES,
    SHE,
    SO,
    THAT,
    THAT_RELATIVE,
    THEY,
    TO,
    WANT,
    WE,
    WEATHER,
    WHERE,
    WHO,
    WHO_RELATIVE,
    YOU,
    A,
    I,
)
from tools.phrasebook.places import IN, INTO
from tools.phrasebook.sentence import (
    Clause,
    Mood,
    NounPhrase,
    Prepositional,
    Quality,
    Role,
    Sentence,
    Tense,
)
from tools.phrasebook.times import clock, weekday
from tools.phrasebook.verbs import ALL_VERBS, BE, KNOW_THAT, PLEASING, RAINING, THERE_IS
from tools.phrasebook.words import Gender

VERB = {verb.name: verb for verb in reversed(ALL_VERBS)}
VERB["like"] = PLEASING
PAST = Tense.PAST


def the(noun, *, plural=False, quality=None):
    return NounPhrase(DEFINITE, NOUN[noun], plural, quality and Quality(ADJECTIVE[quality]))


def a(noun, quality=None):
    return NounPhrase(A, NOUN[noun], quality=quality and Quality(ADJECTIVE[quality]))


def clause(verb, subject=SHE, **parts):
    return Clause(subject=subject, verb=VERB[verb], **parts)


def asked(clause, front=None):
    return Sentence(replace(clause, front=front), Mood.QUESTION)


HALF_FIVE = clock(4, 30)
MY_SISTER = NounPhrase(POSSESSIVES[0], NOUN["sister"])
OPENING = clause("open", direct=the("door"))
GARDEN = Prepositional(IN, the("garden"))
TOGETHER = [
    # separable verbs, the perfect, modal verbs
    (Sentence(clause("get up", time=HALF_FIVE)),
     "She gets up at half past four.", "Sie steht um halb fünf auf."),
    (Sentence(clause("get up", tense=PAST, time=HALF_FIVE)),
     "She got up at half past four.", "Sie ist um halb fünf aufgestanden."),
    (Sentence(clause("open", tense=PAST, direct=a("window"))),
     "She opened a window.", "Sie hat ein Fenster aufgemacht."),
    (Sentence(clause("pick up", HE, modal=CAN, direct=I)),
     "He can pick me up.", "Er kann mich abholen."),
    (Sentence(clause("rest", the("child"), tense=PAST)),
     "The child rested.", "Das Kind hat sich ausgeruht."),
    (asked(clause("sit down", the("child"))),
     "Does the child sit down?", "Setzt sich das Kind hin?"),
    # verb second
    (Sentence(clause("read", the("man"), direct=the("newspaper"), front=weekday(0))),
     "On Monday, the man reads the newspaper.", "Am Montag liest der Mann die Zeitung."),
    (Sentence(clause("give", direct=a("egg"), indirect=the("boy"), time=weekday(0))),
     "She gives the boy an egg on Monday.", "Sie gibt am Montag dem Jungen ein Ei."),
    # negation
    (Sentence(clause("read", direct=the("book"), negated=True, time=weekday(0))),
     "She does not read the book on Monday.", "Sie liest das Buch am Montag nicht."),
    (Sentence(clause("read", direct=a("book"), negated=True)),
     "She does not read a book.", "Sie liest kein Buch."),
    (Sentence(clause("drink", WE, direct=NounPhrase(BARE, NOUN["milk"]), negated=True, tense=PAST)),
     "We did not drink milk.", "Wir haben keine Milch getrunken."),
    (Sentence(clause("sleep", negated=True, place=GARDEN)),
     "She does not sleep in the garden.", "Sie schläft nicht im Garten."),
    (Sentence(clause("close", modal=CAN, direct=the("door"), negated=True)),
     "She cannot close the door.", "Sie kann die Tür nicht zumachen."),
    (Sentence(clause("sleep", modal=MAY, negated=True)),
     "She must not sleep.", "Sie darf nicht schlafen."),
    (Sentence(clause("sleep", modal=MUST, negated=True)),
     "She does not have to sleep.", "Sie muss nicht schlafen."),
    (Sentence(Clause(subject=the("dog"), verb=BE, negated=True,
                     predicate=Quality(ADJECTIVE["big"]))),
     "The dog is not big.", "Der Hund ist nicht groß."),
    (Sentence(clause("sell", often=OFTEN[2], direct=the("cake"), tense=PAST)),
     "She never sold the cake.", "Sie hat nie den Kuchen verkauft."),
    # questions
    (asked(clause("call", YOU, tense=PAST, direct=MY_SISTER)),
     "Did you call my sister?", "Hast du meine Schwester angerufen?"),
    (asked(clause("work", THEY), WHERE), "Where do they work?", "Wo arbeiten sie?"),
    (asked(clause("buy", WHO, direct=the("coat")), Role.SUBJECT),
     "Who buys the coat?", "Wer kauft den Mantel?"),
    (asked(clause("see", YOU, direct=WHO), Role.DIRECT), "Who do you see?", "Wen siehst du?"),
    (asked(clause("help", YOU, indirect=WHO), Role.INDIRECT), "Who do you help?", "Wem hilfst du?"),
    # another sentence in German
    (Sentence(clause("like", I, direct=the("dress", quality="blue"))),
     "I like the blue dress.", "Das blaue Kleid gefällt mir."),
    (asked(clause("like", YOU, direct=the("shoes", plural=True))),
     "Do you like the shoes?", "Gefallen dir die Schuhe?"),
    (Sentence(clause("read", modal=LIKES, place=GARDEN)),
     "She likes to read in the garden.", "Sie liest gern im Garten."),
    (Sentence(clause("dance", HE, modal=LIKES, negated=True)),
     "He does not like to dance.", "Er tanzt nicht gern."),
    (Sentence(Clause(subject=a("cat"), verb=THERE_IS, place=GARDEN)),
     "There is a cat in the garden.", "Im Garten ist eine Katze."),
    (Sentence(clause("travel", place=Prepositional(INTO, the("town")), manner=MANNER["train"],
                   time=weekday(1))),
     "She travels to the town by train on Tuesday.",
     "Sie fährt am Dienstag mit dem Zug in die Stadt."),
    (Sentence(Clause(subject=SHE, verb=BE, predicate=NounPhrase(A, LADY["doctor"]))),
     "She is a doctor.", "Sie ist Ärztin."),
    (Sentence(Clause(subject=the("trousers"), verb=BE, predicate=Quality(ADJECTIVE["old"], TOO))),
     "The trousers are too old.", "Die Hose ist zu alt."),
    # two clauses
    (Sentence(clause("sleep", NAMES[0], tense=PAST), link=BECAUSE,
              other=clause("work", modal=HAD, time=HALF_FIVE)),
     "Anna slept because she had to work at half past four.",
     "Anna hat geschlafen, weil sie um halb fünf arbeiten musste."),
    (Sentence(clause("get up", I), link=ALTHOUGH, other=Clause(subject=WEATHER, verb=RAINING),
              turned=True),
     "Although it is raining, I get up.", "Obwohl es regnet, stehe ich auf."),
    (Sentence(clause("buy", I, direct=the("lamp")), link=BECAUSE,
              other=Clause(subject=IT[Gender.FEMININE], verb=BE,
                           predicate=Quality(ADJECTIVE["cheap"]))),
     "I buy the lamp because it is cheap.", "Ich kaufe die Lampe, weil sie billig ist."),
    (Sentence(clause("think", HE), link=THAT, other=clause("call", direct=I)),
     "He thinks that she calls me.", "Er glaubt, dass sie mich anruft."),
    (Sentence(clause("say", HE), link=THAT, other=clause("come back", tense=PAST)),
     "He says that she came back.", "Er sagt, dass sie zurückgekommen ist."),
    (Sentence(replace(clause("sleep"), modal=WANT), link=AND, other=OPENING),
     "She wants to sleep, and she opens the door.", "Sie will schlafen und sie macht die Tür auf."),
    (Sentence(Clause(subject=WEATHER, verb=RAINING), link=SO, other=clause("sleep")),
     "It is raining, so she sleeps.", "Es regnet, deshalb schläft sie."),
    (Sentence(clause("try", tense=PAST), link=TO, other=OPENING),
     "She tried to open the door.", "Sie hat versucht, die Tür aufzumachen."),
    (Sentence(clause("try", I), link=TO, other=clause("rest", I)),
     "I try to rest.", "Ich versuche, mich auszuruhen."),
    (Sentence(Clause(subject=I, verb=KNOW_THAT), link=ASKED, other=clause("live", HE, front=WHERE)),
     "I know where he lives.", "Ich weiß, wo er wohnt."),
    # relative clauses
    (Sentence(clause("know", I, direct=replace(the("man"), relative=clause(
        "sell", WHO_RELATIVE[Gender.MASCULINE], direct=the("bread"), front=Role.SUBJECT)))),
     "I know the man who sells the bread.", "Ich kenne den Mann, der das Brot verkauft."),
    (Sentence(clause("see", tense=PAST, direct=replace(the("child"), relative=clause(
        "sleep", WHO_RELATIVE[Gender.NEUTER], tense=PAST, front=Role.SUBJECT)))),
     "She saw the child who slept.", "Sie hat das Kind gesehen, das geschlafen hat."),
    (Sentence(Clause(verb=BE, predicate=Quality(ADJECTIVE["new"]),
                     subject=replace(the("coat"), relative=clause(
                         "wear", HE, direct=THAT_RELATIVE[Gender.MASCULINE], front=Role.DIRECT)))),
     "The coat that he wears is new.", "Der Mantel, den er trägt, ist neu."),
    (asked(clause("sleep", replace(the("woman"), relative=clause(
        "work", WHO_RELATIVE[Gender.FEMININE], front=Role.SUBJECT)))),
     "Does the woman who works sleep?", "Schläft die Frau, die arbeitet?"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "expected", "uebersetzt"), TOGETHER)
def test_one_meaning_is_said_in_both_languages(sentence, expected, uebersetzt):
    assert (english(sentence), german(sentence)) == (expected, uebersetzt)


@pytest.mark.parametrize(
    ("part", "article"),
    [
        (a("apple"), "an apple"),
        (a("apple", "fresh"), "a fresh apple"),
        (a("bag", "old"), "an old bag"),
        (a("umbrella"), "an umbrella"),
        (a("office"), "an office"),
        (a("house", "expensive"), "an expensive house"),
        (a("hospital"), "a hospital"),
    ],
)
def test_a_becomes_an_before_a_vowel(part, article):
    assert phrase(part) == article
