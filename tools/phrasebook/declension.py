"""Declension of German words by gender, number and case."""

from tools.phrasebook.words import Adjective, Case, Determiner, Endings, Gender, Noun

# Each row is a gender (masculine, feminine, neuter, plural) and each column a case (nominative,
# accusative, dative).
THE: Endings = (
    ("der", "den", "dem"),
    ("die", "die", "der"),
    ("das", "das", "dem"),
    ("die", "die", "den"),
)
STRONG: Endings = (("er", "en", "em"), ("e", "e", "er"), ("es", "es", "em"), ("e", "e", "en"))
MIXED: Endings = (("er", "en", "en"), ("e", "e", "en"), ("es", "es", "en"), ("en", "en", "en"))
WEAK: Endings = (("e", "en", "en"), ("e", "e", "en"), ("e", "e", "en"), ("en", "en", "en"))
EIN: Endings = (("", "en", "em"), ("e", "e", "er"), ("", "", "em"), ("e", "e", "en"))

CONTRACTED = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
}


def inflected(stem: str, endings: Endings) -> Endings:
    """Return all forms of a determiner, given its stem and a table of endings."""
    return tuple((stem + row[0], stem + row[1], stem + row[2]) for row in endings)


def unchanged(word: str) -> Endings:
    """Return a table of forms for a word without declension, such as drei, Annas or ""."""
    return ((word, word, word),) * 4


def gender_of(noun: Noun, *, plural: bool) -> Gender:
    """Return a noun's row of the tables of endings: its gender, or plural."""
    return Gender.PLURAL if plural else noun.gender


def noun_form(noun: Noun, gender: Gender, case: Case) -> str:
    """Return a German noun's form in a case, with -n in the dative plural or for weak nouns."""
    if gender is Gender.PLURAL:
        plural = noun.german_plural
        return plural + "n" if case is Case.DATIVE and plural[-1] not in "ns" else plural
    if noun.weak and case is not Case.NOMINATIVE:
        return noun.german_plural
    return noun.german


def adjective_form(adjective: Adjective, determiner: Determiner, gender: Gender, case: Case) -> str:
    """Return a German adjective's form before a noun, after a determiner."""
    return adjective.stem + determiner.endings[gender][case]


def contracted(preposition: str, phrase: str) -> str:
    """Join a preposition and a phrase, contracting the article: in + dem Garten = im Garten."""
    article, _, rest = phrase.partition(" ")
    short = CONTRACTED.get((preposition, article))
    return f"{short} {rest}" if short else f"{preposition} {phrase}"
