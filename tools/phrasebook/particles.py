"""Function words: pronouns, determiners, names, modal verbs, conjunctions and adverbs."""

from tools.phrasebook.conjugation import forms
from tools.phrasebook.declension import (
    EIN,
    MIXED,
    STRONG,
    THE,
    WEAK,
    inflected,
    unchanged,
)
from tools.phrasebook.numbers import english_number, german_number
from tools.phrasebook.words import (
    Adverb,
    Determiner,
    Forms,
    Gender,
    Link,
    Modal,
    Name,
    Person,
    Pronoun,
)

I = Pronoun("I", "me", ("ich", "mich", "mir"), Person.I, "mich")  # noqa: E741 - the pronoun
YOU = Pronoun("you", "you", ("du", "dich", "dir"), Person.YOU, "dich")
HE = Pronoun("he", "him", ("er", "ihn", "ihm"), Person.HE)
SHE = Pronoun("she", "her", ("sie", "sie", "ihr"), Person.HE)
WE = Pronoun("we", "us", ("wir", "uns", "uns"), Person.THEY, "uns")
THEY = Pronoun("they", "them", ("sie", "sie", "ihnen"), Person.THEY)
PERSONAL = (I, YOU, HE, SHE, WE, THEY)

# The pronoun "it" is used for the weather, and for a thing that the same sentence names.
WEATHER = Pronoun("it", "it", ("es", "es", "ihm"), Person.HE)
IT = {
    Gender.MASCULINE: Pronoun("it", "it", ("er", "ihn", "ihm"), Person.HE),
    Gender.FEMININE: Pronoun("it", "it", ("sie", "sie", "ihr"), Person.HE),
    Gender.NEUTER: WEATHER,
}
WHO = Pronoun("who", "who", ("wer", "wen", "wem"), Person.HE)
WHAT = Pronoun("what", "what", ("was", "was", "was"), Person.HE)


def relative(gender: Gender, english: str) -> Pronoun:
    """Build the relative pronoun of a gender: English who or that; German der, den, dem."""
    row = THE[gender]
    dative = "denen" if gender is Gender.PLURAL else row[2]
    person = Person.THEY if gender is Gender.PLURAL else Person.HE
    return Pronoun(english, english, (row[0], row[1], dative), person)


WHO_RELATIVE = {gender: relative(gender, "who") for gender in Gender}
THAT_RELATIVE = {gender: relative(gender, "that") for gender in Gender}

NAMES = (
    Name("Anna", SHE),
    Name("Julia", SHE),
    Name("Maria", SHE),
    Name("Lena", SHE),
    Name("Peter", HE),
    Name("Paul", HE),
    Name("Martin", HE),
    Name("David", HE),
)


def possessive(english: str, german: str) -> Determiner:
    """Build a possessive determiner: my, mein."""
    return Determiner(english, english, inflected(german, EIN), MIXED)


DEFINITE = Determiner("the", "the", THE, WEAK)
A = Determiner("a", "", inflected("ein", EIN), MIXED, definite=False)
NO = Determiner("no", "no", inflected("kein", EIN), MIXED, definite=False)
BARE = Determiner("", "", unchanged(""), STRONG, definite=False)
THIS = Determiner("this", "these", inflected("dies", STRONG), WEAK)
EVERY = Determiner("every", "", inflected("jed", STRONG), WEAK, definite=False)
ALL = Determiner("", "all", inflected("all", STRONG), WEAK, definite=False)
MANY = Determiner("", "many", inflected("viel", STRONG), STRONG, definite=False)
SOME = Determiner("", "some", inflected("einig", STRONG), STRONG, definite=False)
WHICH = Determiner("which", "which", inflected("welch", STRONG), WEAK)
HOW_MANY = Determiner("", "how many", inflected("wie viel", STRONG), STRONG)
POSSESSIVES = (
    possessive("my", "mein"),
    possessive("your", "dein"),
    possessive("his", "sein"),
    possessive("her", "ihr"),
    possessive("our", "unser"),
    possessive("their", "ihr"),
)
COUNTS = tuple(
    Determiner("", english_number(n), unchanged(german_number(n)), STRONG, definite=False)
    for n in range(2, 13)
)
OWNERS = tuple(
    Determiner(f"{name.text}'s", f"{name.text}'s", unchanged(f"{name.text}s"), STRONG)
    for name in NAMES
)


def same(word: str) -> Forms:
    """Return one verb form for all four persons."""
    return (word, word, word, word)


DO: Forms = ("do", "do", "does", "do")
DID: Forms = same("did")


def modal(english: str, german: str) -> Modal:
    """Build a modal verb that needs no "do" in English; `german` has ich, du, er, wir."""
    word, _, rest = english.partition(" ")
    way = (same(word), rest)
    return Modal(way, way, way, forms(german))


def with_do(affirmed: Forms, infinitive: str, auxiliary: Forms, german: str) -> Modal:
    """Build a modal verb that needs "do" in English questions: "do you want to ...?"."""
    way = (auxiliary, infinitive)
    return Modal((affirmed, "to"), way, way, forms(german))


CAN = modal("can", "kann kannst kann können")
COULD = modal("could", "konnte konntest konnte konnten")
WILL = modal("will", "werde wirst wird werden")
SHOULD = modal("should", "sollte solltest sollte sollten")
WOULD_LIKE = modal("would like to", "möchte möchtest möchte möchten")
WANT = with_do(("want", "want", "wants", "want"), "want to", DO, "will willst will wollen")
WANTED = with_do(same("wanted"), "want to", DID, "wollte wolltest wollte wollten")
HAD = with_do(same("had"), "have to", DID, "musste musstest musste mussten")
# "must not" forbids, so "must" is denied as "do not have to" and "may" as "must not".
MUST = Modal(
    affirmed=(same("must"), ""),
    denied=(DO, "have to"),
    asked=(DO, "have to"),
    german=forms("muss musst muss müssen"),
)
MAY = Modal(
    affirmed=(same("may"), ""),
    denied=(same("must"), ""),
    asked=(same("may"), ""),
    german=forms("darf darfst darf dürfen"),
)
LIKES = Modal(
    affirmed=(("like", "like", "likes", "like"), "to"),
    denied=(DO, "like to"),
    asked=(DO, "like to"),
    german=None,
    adverb="gern",
)

THAT = Link("that", "dass", "last")
WHETHER = Link("whether", "ob", "last")
BECAUSE = Link("because", "weil", "last")
ALTHOUGH = Link("although", "obwohl", "last")
WHEN = Link("when", "wenn", "last")
WHEN_ONCE = Link("when", "als", "last")
IF = Link("if", "wenn", "last")
WHILE = Link("while", "während", "last")
BEFORE = Link("before", "bevor", "last")
UNTIL = Link("until", "bis", "last")
AND = Link("and", "und", "second", english_comma=True, german_comma=False)
BUT = Link("but", "aber", "second", english_comma=True)
SO = Link("so", "deshalb", "inverted", english_comma=True)
ASKED = Link("", "", "last")  # an indirect question begins with its question word instead
TO = Link("to", "", "infinitive")

OFTEN = (
    Adverb("often", "oft"),
    Adverb("always", "immer"),
    Adverb("never", "nie"),
    Adverb("sometimes", "manchmal"),
    Adverb("usually", "meistens"),
)
MANNER = {  # each adverb by its last word: "by bus" by "bus"
    adverb.english.split()[-1]: adverb
    for adverb in (
        Adverb("quickly", "schnell"),
        Adverb("slowly", "langsam"),
        Adverb("quietly", "leise"),
        Adverb("well", "gut"),
        Adverb("alone", "allein"),
        Adverb("together", "zusammen"),
        Adverb("by bus", "mit dem Bus"),
        Adverb("by train", "mit dem Zug"),
        Adverb("by car", "mit dem Auto"),
        Adverb("by bicycle", "mit dem Fahrrad"),
    )
}
HERE = Adverb("here", "hier")
THERE = Adverb("there", "dort")
AT_HOME = Adverb("at home", "zu Hause")
HOME = Adverb("home", "nach Hause")
WHERE = Adverb("where", "wo")
WHERE_TO = Adverb("where", "wohin")
WHEN_ASKED = Adverb("when", "wann")
WHY = Adverb("why", "warum")
HOW_OLD = Adverb("how old", "wie alt")
HOW_MUCH = Adverb("how much", "wie viel")
QUESTION_WORDS = (WHERE, WHERE_TO, WHEN_ASKED, WHY)
