"""How German words change with gender, number and case."""

from transduce.phrasebook.words import Adjective, Case, Determiner, Endings, Gender, Noun

# One row a gender (masculine, feminine, neuter, plural), one column a case (nominative,
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
    """Every form of an article: dies- with STRONG, kein- with EIN."""
    return tuple((stem + row[0], stem + row[1], stem + row[2]) for row in endings)


def unchanged(word: str) -> Endings:
    """A word in the place of an article that never changes: drei, Annas, or none at all."""
    return ((word, word, word),) * 4


def gender_of(noun: Noun, *, plural: bool) -> Gender:
    """The row of the tables."""
    return Gender.PLURAL if plural else noun.gender


def noun_form(noun: Noun, gender: Gender, case: Case) -> str:
    """The noun itself: -n in the dative plural, the weak ones in all but one case."""
    if gender is Gender.PLURAL:
        plural = noun.german_plural
        return plural + "n" if case is Case.DATIVE and plural[-1] not in "ns" else plural
    if noun.weak and case is not Case.NOMINATIVE:
        return noun.german_plural
    return noun.german


def adjective_form(adjective: Adjective, determiner: Determiner, gender: Gender, case: Case) -> str:
    """The adjective before a noun, with the ending that its determiner leaves to it."""
    return adjective.stem + determiner.endings[gender][case]


def contracted(preposition: str, phrase: str) -> str:
    """in + dem Garten = im Garten. Only the article has these forms, wherever it opens a phrase."""
    article, _, rest = phrase.partition(" ")
    short = CONTRACTED.get((preposition, article))
    return f"{short} {rest}" if short else f"{preposition} {phrase}"
