"""The table of adjectives: English, German, kinds of nouns, and the German stem if it differs."""

from functools import cache

from tools.phrasebook.words import Adjective, Adverb, Noun

WARES = "clothes print vessel small device furniture vehicle"
BIG = "animal vessel furniture opening building space carrier car bag picture lamp tree"

ROWS: tuple[tuple[str, ...], ...] = (
    (
        "old",
        "alt",
        f"adult friend brother sister animal {WARES} building opening tree town",
    ),
    ("young", "jung", "adult girl child friend brother sister animal"),
    ("friendly", "freundlich", "person pet"),
    ("clever", "klug", "person pet"),
    ("famous", "berühmt", "adult picture film song book restaurant"),
    ("poor", "arm", "adult child"),
    ("tired", "müde", "person animal", "müd"),
    ("happy", "glücklich", "person"),
    ("sad", "traurig", "person film song story"),
    ("hungry", "hungrig", "person animal"),
    ("thirsty", "durstig", "person animal"),
    ("ill", "krank", "person pet horse"),
    ("big", "groß", BIG),
    ("small", "klein", f"{BIG} key book flower"),
    ("new", "neu", f"{WARES} building opening teacher doctor song film office"),
    ("beautiful", "schön", "clothes picture flower garden house song town village park lake horse"),
    ("good", "gut", "food drink work book teacher doctor friend restaurant"),
    ("interesting", "interessant", "print work lesson picture question town"),
    ("cheap", "billig", f"food {WARES}"),
    ("expensive", "teuer", f"food {WARES}", "teur"),
    ("broken", "kaputt", "vessel device furniture vehicle opening umbrella"),
    ("clean", "sauber", "clothes vessel room knife window car street"),
    ("dirty", "schmutzig", "clothes vessel room knife window car street dog shoes"),
    ("heavy", "schwer", "furniture bag bottle picture lamp computer coat"),
    ("long", "lang", "dress coat letter film story song street trousers knife"),
    ("short", "kurz", "dress letter film story song question trousers jacket"),
    ("warm", "warm", "drink soup bread coat jacket room kitchen"),
    ("cold", "kalt", "drink soup meat room lake potato"),
    ("fresh", "frisch", "apple pear egg cake potato carrot bread cheese meat milk juice"),
    ("sweet", "süß", "apple pear cake tea juice carrot"),
    ("empty", "leer", "cup glass bottle bag cupboard house room shop street train bus"),
    ("dark", "dunkel", "room kitchen house forest street coat office", "dunkl"),
    ("red", "rot", "coloured apple"),
    ("blue", "blau", "coloured"),
    ("green", "grün", "coloured apple pear"),
    ("white", "weiß", "coloured horse cat dog"),
    ("black", "schwarz", "coloured horse cat dog"),
    ("yellow", "gelb", "coloured pear"),
)

ADJECTIVES = tuple(
    Adjective(row[0], row[1], row[3] if len(row) > 3 else row[1], frozenset(row[2].split()))
    for row in ROWS
)
ADJECTIVE = {entry.english: entry for entry in ADJECTIVES}
VERY = Adverb("very", "sehr")
TOO = Adverb("too", "zu")


EXTREME = frozenset(
    ("big", "small", "long", "short", "heavy", "warm", "cold", "expensive", "old", "dark", "sweet")
)
COLOURS = frozenset(("red", "blue", "green", "white", "black", "yellow"))
ABSOLUTE = COLOURS | {"broken", "empty", "ill"}


@cache
def degrees_of(adjective: Adjective) -> tuple[Adverb | None, ...]:
    """Return the degree adverbs an adjective allows in a predicate: not "very broken"."""
    if adjective.english in ABSOLUTE:
        return (None,)
    if adjective.english in EXTREME:
        return (None, None, VERY, TOO)
    return (None, None, VERY)


@cache
def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """Return the adjectives that make sense with a noun."""
    return tuple(entry for entry in ADJECTIVES if entry.kinds & noun.kinds)
