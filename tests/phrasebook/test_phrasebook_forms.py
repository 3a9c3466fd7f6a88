"""Forms of words against tables written out by hand."""

import pytest
from tools.phrasebook.adjectives import ADJECTIVE
from tools.phrasebook.german import adverbial, phrase
from tools.phrasebook.nouns import NOUN, NOUNS, compounds_of
from tools.phrasebook.numbers import (
    english_number,
    english_ordinal,
    german_number,
    german_ordinal,
)
from tools.phrasebook.particles import (
    ALL,
    BARE,
    COUNTS,
    DEFINITE,
    EVERY,
    NO,
    OWNERS,
    POSSESSIVES,
    THIS,
    A,
)
from tools.phrasebook.places import AT, IN, INTO, TO, WITH
from tools.phrasebook.sentence import NounPhrase, Prepositional, Quality
from tools.phrasebook.times import clock, date, hour, joined, weekday
from tools.phrasebook.verbs import ALL_VERBS
from tools.phrasebook.words import Case

OUR = POSSESSIVES[4]
CASES = (Case.NOMINATIVE, Case.ACCUSATIVE, Case.DATIVE)
# determiner, adjective, noun, plural, then nominative | accusative | dative
DECLENSION = [
    (DEFINITE, "old", "table", False, "der alte Tisch | den alten Tisch | dem alten Tisch"),
    (DEFINITE, "old", "lamp", False, "die alte Lampe | die alte Lampe | der alten Lampe"),
    (DEFINITE, "old", "book", False, "das alte Buch | das alte Buch | dem alten Buch"),
    (DEFINITE, "old", "table", True, "die alten Tische | die alten Tische | den alten Tischen"),
    (DEFINITE, "old", "lamp", True, "die alten Lampen | die alten Lampen | den alten Lampen"),
    (DEFINITE, "old", "book", True, "die alten Bücher | die alten Bücher | den alten Büchern"),
    (A, "old", "table", False, "ein alter Tisch | einen alten Tisch | einem alten Tisch"),
    (A, "old", "lamp", False, "eine alte Lampe | eine alte Lampe | einer alten Lampe"),
    (A, "old", "book", False, "ein altes Buch | ein altes Buch | einem alten Buch"),
    (NO, "old", "table", False, "kein alter Tisch | keinen alten Tisch | keinem alten Tisch"),
    (NO, "old", "lamp", False, "keine alte Lampe | keine alte Lampe | keiner alten Lampe"),
    (NO, "old", "book", False, "kein altes Buch | kein altes Buch | keinem alten Buch"),
    (NO, "old", "table", True, "keine alten Tische | keine alten Tische | keinen alten Tischen"),
    (BARE, "old", "table", True, "alte Tische | alte Tische | alten Tischen"),
    (BARE, "cold", "coffee", False, "kalter Kaffee | kalten Kaffee | kaltem Kaffee"),
    (BARE, "cold", "milk", False, "kalte Milch | kalte Milch | kalter Milch"),
    (BARE, "cold", "water", False, "kaltes Wasser | kaltes Wasser | kaltem Wasser"),
    (THIS, "new", "coat", False, "dieser neue Mantel | diesen neuen Mantel | diesem neuen Mantel"),
    (THIS, "new", "coat", True, "diese neuen Mäntel | diese neuen Mäntel | diesen neuen Mänteln"),
    (EVERY, "new", "dress", False, "jedes neue Kleid | jedes neue Kleid | jedem neuen Kleid"),
    (ALL, "new", "car", True, "alle neuen Autos | alle neuen Autos | allen neuen Autos"),
    (COUNTS[0], "red", "cup", True, "zwei rote Tassen | zwei rote Tassen | zwei roten Tassen"),
    (OWNERS[0], "red", "car", False, "Annas rotes Auto | Annas rotes Auto | Annas rotem Auto"),
    (OUR, "old", "dog", False, "unser alter Hund | unseren alten Hund | unserem alten Hund"),
    (A, "young", "student", False,
     "ein junger Student | einen jungen Studenten | einem jungen Studenten"),
    (OUR, "old", "neighbour", False,
     "unser alter Nachbar | unseren alten Nachbarn | unserem alten Nachbarn"),
    (DEFINITE, "tired", "boy", False, "der müde Junge | den müden Jungen | dem müden Jungen"),
    (DEFINITE, "expensive", "hat", False, "der teure Hut | den teuren Hut | dem teuren Hut"),
    (A, "dark", "room", False, "ein dunkles Zimmer | ein dunkles Zimmer | einem dunklen Zimmer"),
    (DEFINITE, "black", "trousers", False,
     "die schwarze Hose | die schwarze Hose | der schwarzen Hose"),
]  # fmt: skip


@pytest.mark.parametrize(("determiner", "adjective", "noun", "plural", "forms"), DECLENSION)
def test_articles_adjectives_and_nouns_agree_in_every_case(
    determiner, adjective, noun, plural, forms
):
    part = NounPhrase(determiner, NOUN[noun], plural, Quality(ADJECTIVE[adjective]))
    assert " | ".join(phrase(part, case) for case in CASES) == forms


def test_a_weak_noun_without_an_adjective_still_changes():
    part = NounPhrase(POSSESSIVES[1], NOUN["name"])
    assert [phrase(part, case) for case in CASES] == ["dein Name", "deinen Namen", "deinem Namen"]


def test_the_dative_plural_ends_in_n_or_s():
    for noun in NOUNS:
        if noun.german_plural:
            dative = phrase(NounPhrase(DEFINITE, noun, plural=True), Case.DATIVE)
            assert dative[-1] in "ns", dative


@pytest.mark.parametrize(
    ("preposition", "noun", "expected"),
    [
        (IN, "garden", "im Garten"),
        (IN, "kitchen", "in der Küche"),
        (INTO, "house", "ins Haus"),
        (INTO, "park", "in den Park"),
        (AT, "station", "am Bahnhof"),
        (TO, "station", "zum Bahnhof"),
        (TO, "school", "zur Schule"),
        (WITH, "dog", "mit dem Hund"),
    ],
)
def test_a_preposition_melts_into_the_article(preposition, noun, expected):
    assert adverbial(Prepositional(preposition, NounPhrase(DEFINITE, NOUN[noun]))) == expected


def test_a_compound_is_one_german_word_with_the_gender_of_its_last_part():
    cup = next(noun for noun in compounds_of(NOUN["cup"]) if noun.first == "coffee")
    assert cup.english == "coffee cup"
    assert phrase(NounPhrase(DEFINITE, cup), Case.DATIVE) == "der Kaffeetasse"
    assert phrase(NounPhrase(A, cup), Case.ACCUSATIVE) == "eine Kaffeetasse"


# English, then ich | du | er | wir, and the perfect
CONJUGATION = {
    "eat": "esse isst isst essen | gegessen",
    "read": "lese liest liest lesen | gelesen",
    "give": "gebe gibst gibt geben | gegeben",
    "help": "helfe hilfst hilft helfen | geholfen",
    "sleep": "schlafe schläfst schläft schlafen | geschlafen",
    "wear": "trage trägst trägt tragen | getragen",
    "work": "arbeite arbeitest arbeitet arbeiten | gearbeitet",
    "find": "finde findest findet finden | gefunden",
    "meet": "treffe triffst trifft treffen | getroffen",
    "know": "kenne kennst kennt kennen | gekannt",
    "be": "bin bist ist sind | gewesen",
    "have": "habe hast hat haben | gehabt",
    "get up": "stehe stehst steht stehen | aufgestanden",
    "invite": "lade lädst lädt laden | eingeladen",
    "throw away": "werfe wirfst wirft werfen | weggeworfen",
    "sit down": "setze setzt setzt setzen | hingesetzt",
    "repair": "repariere reparierst repariert reparieren | repariert",
    "visit": "besuche besuchst besucht besuchen | besucht",
}


@pytest.mark.parametrize("name", CONJUGATION)
def test_verbs_are_conjugated(name):
    verb = next(verb for verb in ALL_VERBS if verb.name == name)
    assert " ".join(verb.german.present) + " | " + verb.german.participle == CONJUGATION[name]


def test_verbs_of_motion_and_change_take_sein():
    moving = {verb.name for verb in ALL_VERBS if verb.german.with_sein}
    expected = "be go travel swim arrive leave stay|get up|fall asleep|come back"
    first, *rest = expected.split("|")
    assert moving == {*first.split(), *rest}


def test_the_infinitive_with_zu_goes_between_prefix_and_verb():
    found = {verb.name: verb.german.with_zu for verb in ALL_VERBS}
    assert found["open"] == "aufzumachen"
    assert found["call"] == "anzurufen"
    assert found["visit"] == "zu besuchen"
    assert found["understand"] == "zu verstehen"


@pytest.mark.parametrize(
    ("name", "third"),
    [("go", "goes"), ("wash", "washes"), ("tidy up", "tidies"), ("buy", "buys"), ("try", "tries")],
)
def test_the_third_person_of_english_verbs(name, third):
    verb = next(verb for verb in ALL_VERBS if verb.name == name)
    assert verb.english.present[2] == third


UNITS = [
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
]
# The German hours by another rule than the code's: minutes are counted from the nearest anchor.
SPOKEN = {
    0: "{this} Uhr", 5: "fünf nach {this}", 10: "zehn nach {this}", 15: "Viertel nach {this}",
    20: "zwanzig nach {this}", 25: "fünf vor halb {next}", 30: "halb {next}",
    35: "fünf nach halb {next}", 40: "zwanzig vor {next}", 45: "Viertel vor {next}",
    50: "zehn vor {next}", 55: "fünf vor {next}",
}  # fmt: skip
ENGLISH_UNITS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
ENGLISH_SPOKEN = {
    0: "{this} o'clock", 5: "five past {this}", 10: "ten past {this}", 15: "quarter past {this}",
    20: "twenty past {this}", 25: "twenty-five past {this}", 30: "half past {this}",
    35: "twenty-five to {next}", 40: "twenty to {next}", 45: "quarter to {next}",
    50: "ten to {next}", 55: "five to {next}",
}  # fmt: skip


@pytest.mark.parametrize("minute", range(0, 60, 5))
@pytest.mark.parametrize("h", range(1, 13))
def test_every_five_minutes_of_the_clock(h, minute):
    time = hour(h, minute)
    this, following = UNITS[h - 1], UNITS[h % 12]
    if minute == 0 and h == 1:
        this = "ein"
    assert time.german == SPOKEN[minute].format(this=this, next=following)
    this, following = ENGLISH_UNITS[h - 1], ENGLISH_UNITS[h % 12]
    assert time.english == ENGLISH_SPOKEN[minute].format(this=this, next=following)


def test_a_day_and_an_hour_change_their_order():
    when = joined(weekday(4), clock(4, 30))
    assert (when.english, when.german) == (
        "at half past four on Friday",
        "am Freitag um halb fünf",
    )


@pytest.mark.parametrize(
    ("day", "month", "english", "german"),
    [
        (1, 0, "on the first of January", "am ersten Januar"),
        (3, 4, "on the third of May", "am dritten Mai"),
        (7, 2, "on the seventh of March", "am siebten März"),
        (8, 11, "on the eighth of December", "am achten Dezember"),
        (12, 5, "on the twelfth of June", "am zwölften Juni"),
        (16, 6, "on the sixteenth of July", "am sechzehnten Juli"),
        (20, 7, "on the twentieth of August", "am zwanzigsten August"),
        (21, 8, "on the twenty-first of September", "am einundzwanzigsten September"),
        (30, 9, "on the thirtieth of October", "am dreißigsten Oktober"),
    ],
)
def test_dates(day, month, english, german):
    when = date(day, month)
    assert (when.english, when.german) == (english, german)


TENS = {20: "zwanzig", 30: "dreißig", 40: "vierzig", 50: "fünfzig", 60: "sechzig", 70: "siebzig",
        80: "achtzig", 90: "neunzig"}  # fmt: skip
SMALL = {
    1: "eins", 2: "zwei", 3: "drei", 4: "vier", 5: "fünf", 6: "sechs", 7: "sieben", 8: "acht",
    9: "neun", 10: "zehn", 11: "elf", 12: "zwölf", 13: "dreizehn", 14: "vierzehn", 15: "fünfzehn",
    16: "sechzehn", 17: "siebzehn", 18: "achtzehn", 19: "neunzehn",
}  # fmt: skip


def test_german_numbers_are_read_back_by_another_rule():
    for n in range(1, 100):
        word = german_number(n)
        if n in SMALL:
            assert word == SMALL[n]
            continue
        ones, _, tens = word.rpartition("und")
        read = next(value for value, name in TENS.items() if name == tens)
        units = {**{name: value for value, name in SMALL.items() if value < 10}, "ein": 1}
        assert read + (units[ones] if ones else 0) == n
        assert ones != "eins"


@pytest.mark.parametrize(
    ("n", "english"),
    [(1, "one"), (12, "twelve"), (15, "fifteen"), (21, "twenty-one"), (40, "forty")],
)  # fmt: skip
def test_english_numbers(n, english):
    assert english_number(n) == english


def test_ordinals_of_a_month():
    expected = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 9: "ninth"}
    expected |= {12: "twelfth", 20: "twentieth", 22: "twenty-second", 31: "thirty-first"}
    assert {n: english_ordinal(n) for n in expected} == expected
    assert german_ordinal(31) == "einunddreißigsten"
    assert german_ordinal(19) == "neunzehnten"
