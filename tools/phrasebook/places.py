"""Places and directions, each with its preposition in both languages."""

from functools import cache

from tools.phrasebook.nouns import NOUN, nouns_of
from tools.phrasebook.words import Case, Noun, Preposition

IN = Preposition("in", "in", Case.DATIVE)
ON = Preposition("on", "auf", Case.DATIVE)
AT = Preposition("at", "an", Case.DATIVE)
INTO = Preposition("to", "in", Case.ACCUSATIVE)
TO = Preposition("to", "zu", Case.DATIVE)
TO_WATER = Preposition("to", "an", Case.ACCUSATIVE)
WITH = Preposition("with", "mit", Case.DATIVE)
FOR = Preposition("for", "für", Case.ACCUSATIVE)
AT_MARKET = Preposition("at", "auf", Case.DATIVE)
IN_STREET = Preposition("in", "auf", Case.DATIVE)
TO_MARKET = Preposition("to", "auf", Case.ACCUSATIVE)

# Prepositions of places by noun, for being there and for going there; others take "in" and "to".
AT_PLACE = {
    "station": AT,
    "school": Preposition("at", "in", Case.DATIVE),
    "lake": AT,
    "market": AT_MARKET,
    "street": IN_STREET,
    "table": AT,
    "window": AT,
}
TO_PLACE = {
    "station": TO,
    "school": TO,
    "lake": TO_WATER,
    "market": TO_MARKET,
    "street": TO_MARKET,
    "doctor": TO,
    "aunt": TO,
    "uncle": TO,
    "friend": TO,
    "neighbour": TO,
}
# From the name of a relation in verb entries to its preposition and the nouns after it.
SPOTS = {
    "surface": (ON, "table chair bed"),
    "seat": (ON, "chair bed"),
    "underneath": (Preposition("under", "unter", Case.DATIVE), "table bed tree chair"),
    "front": (
        Preposition("in front of", "vor", Case.DATIVE),
        "house school station cinema door shop hospital library car window",
    ),
    "behind": (Preposition("behind", "hinter", Case.DATIVE), "house school tree door car"),
    "beside": (
        Preposition("next to", "neben", Case.DATIVE),
        "bed door window tree cupboard table car",
    ),
    "inside": (IN, "cupboard bag"),
}
# The same relations for putting something there, with the accusative.
TARGETS = {
    "surface": (Preposition("on", "auf", Case.ACCUSATIVE), "table chair bed"),
    "underneath": (Preposition("under", "unter", Case.ACCUSATIVE), "table bed tree chair"),
    "beside": (Preposition("next to", "neben", Case.ACCUSATIVE), "bed door window lamp"),
    "inside": (Preposition("in", "in", Case.ACCUSATIVE), "cupboard bag"),
}

Spot = tuple[Preposition, Noun]


@cache
def spots(names: str) -> tuple[Spot, ...]:
    """Return the places with these names as locations: "in the kitchen"."""
    return tuple(_spots(names, relations=SPOTS, places=AT_PLACE, otherwise=IN))


@cache
def goals(names: str) -> tuple[Spot, ...]:
    """Return the places with these names as directions: "to the kitchen"."""
    return tuple(_spots(names, relations=TARGETS, places=TO_PLACE, otherwise=INTO))


def _spots(
    names: str,
    *,
    relations: dict[str, tuple[Preposition, str]],
    places: dict[str, Preposition],
    otherwise: Preposition,
) -> list[Spot]:
    """List each named place, or each noun of a relation, with its preposition."""
    found: list[Spot] = []
    for name in names.split():
        if name in relations:
            preposition, kinds = relations[name]
            found += [(preposition, noun) for noun in nouns_of(kinds)]
        else:
            found.append((places.get(name, otherwise), NOUN[name]))
    return found
