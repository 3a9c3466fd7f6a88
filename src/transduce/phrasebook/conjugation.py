"""How verbs change, from the few forms that a lexicon lists.

German: infinitive with a bar after the prefix that parts from it, the forms of du and er, the
participle, "sein" if the perfect takes it, "sich" first if it is reflexive.
"""

from transduce.phrasebook.words import EnglishVerb, Forms, GermanVerb, Verb


def english(text: str, *, auxiliary: bool = False) -> EnglishVerb:
    """get got up: base, past, and what follows the verb."""
    base, past, *particle = text.split()
    third = base + ("es" if base.endswith(("s", "sh", "ch", "o", "x")) else "s")
    if base.endswith("y") and base[-2] not in "aeiou":
        third = base[:-1] + "ies"
    return EnglishVerb(base, (base, base, third, base), (past,) * 4, " ".join(particle), auxiliary)


def german(text: str, *, preterite: str = "", present: str = "") -> GermanVerb:
    """auf|stehen stehst steht aufgestanden sein; the options list ich, du, er, wir."""
    words = text.split()
    reflexive = words[0] == "sich"
    infinitive, second, third, participle, *sein = words[1:] if reflexive else words
    prefix, _, plain = infinitive.rpartition("|")
    first = plain[:-1] if plain.endswith("en") else plain
    return GermanVerb(
        infinitive=prefix + plain,
        present=forms(present) if present else (first, second, third, plain),
        participle=participle,
        with_sein=bool(sein),
        prefix=prefix,
        reflexive=reflexive,
        preterite=forms(preterite) if preterite else None,
    )


def forms(text: str) -> Forms:
    """The forms of ich, du, er and wir, with blanks between them."""
    first, second, third, plural = text.split()
    return (first, second, third, plural)


def verb(english_text: str, german_text: str, who: str, **frame: str) -> Verb:
    """An entry of the tables below."""
    traits = frozenset(frame.pop("traits", "").split())
    return Verb(english(english_text), german(german_text), who, traits=traits, **frame)
