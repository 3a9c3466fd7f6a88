"""Conjugation of verbs from the few forms that the lexicon lists.

A German entry lists the infinitive, with a bar after a separable prefix, the forms of du and er,
and the participle; "sein" follows if the perfect is formed with sein, and "sich" precedes the entry
of a reflexive verb.
"""

from tools.phrasebook.words import EnglishVerb, Forms, GermanVerb, Verb


def english(text: str, *, auxiliary: bool = False) -> EnglishVerb:
    """Parse an English verb entry such as "get got up": base, past, particle."""
    base, past, *particle = text.split()
    third = base + ("es" if base.endswith(("s", "sh", "ch", "o", "x")) else "s")
    if base.endswith("y") and base[-2] not in "aeiou":
        third = base[:-1] + "ies"
    return EnglishVerb(base, (base, base, third, base), (past,) * 4, " ".join(particle), auxiliary)


def german(text: str, *, preterite: str = "", present: str = "") -> GermanVerb:
    """Parse a German verb entry such as "auf|stehen stehst steht aufgestanden sein"."""
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
    """Parse the four forms of ich, du, er and wir, separated by spaces."""
    first, second, third, plural = text.split()
    return (first, second, third, plural)


def verb(english_text: str, german_text: str, who: str, **frame: str) -> Verb:
    """Build a Verb for the lexicon from its English and German entry and its kinds of nouns."""
    traits = frozenset(frame.pop("traits", "").split())
    return Verb(english(english_text), german(german_text), who, traits=traits, **frame)
