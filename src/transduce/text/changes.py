"""Changes to a pair of lines that a robust model must bear, such as upper case or typing errors.

Each change takes a pair and returns a new one, or the same pair if nothing can change. No change
replaces a word together with its translation, because the words are not aligned.
"""

import hashlib
import random
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar, final

from transduce.settings import Data
from transduce.settings.data import CHANGES

Option = TypeVar("Option")
Pair = tuple[str, str]  # a source line and its translation
Change = Callable[[Pair, tuple[str, str], random.Random], Pair]  # pair, its languages, draw → pair

DOTTED = ("tr", "az")  # languages that have both i and ı, and both İ and I
END_MARKS = ".!?…。！？।۔؟"
OPENING_MARKS = re.compile("[¿¡]")
FIRST_LETTER = re.compile(r"(?:^|(?<=\s))([^\w\s]*)([^\W\d_])")
WORD = re.compile(r"(?:^|(?<=\s))[^\w\s]*([^\W\d_]{3,})[^\w\s]*(?=\s|$)")
LETTERS_PER_TYPO = 20
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # the letters of a keyboard, row by row
SYLLABLES = tuple(first + second for first in "bdfgklmnprstvz" for second in "aeiou")


def upper_case(pair: Pair, languages: tuple[str, str], _draw: random.Random) -> Pair:
    """Return a pair in capitals; the same pair if the source has no small letters."""
    source, target = (to_capitals(*side) for side in zip(pair, languages, strict=True))
    return pair if source == pair[0] else (source, target)


def to_capitals(text: str, language: str) -> str:
    """Return text in capitals, with İ for the i of Turkish and Azerbaijani."""
    return (text.replace("i", "İ") if language in DOTTED else text).upper()


def title_case(pair: Pair, languages: tuple[str, str], _draw: random.Random) -> Pair:
    """Return a pair whose words begin with capitals; the same pair if its source stays as it is."""

    def raise_first(text: str, language: str) -> str:
        return FIRST_LETTER.sub(
            lambda found: found[1] + to_capitals(found[2], language).title(), text
        )

    source, target = (raise_first(*side) for side in zip(pair, languages, strict=True))
    return pair if source == pair[0] else (source, target)


def drop_end_mark(pair: Pair, _languages: tuple[str, str], _draw: random.Random) -> Pair:
    """Return a pair without ¿, ¡ and final marks; the same pair if the source has none.

    The pair is also unchanged if a side would become empty.
    """
    source, target = (OPENING_MARKS.sub("", side.rstrip(END_MARKS).rstrip()) for side in pair)
    return (source, target) if source and target and source != pair[0] else pair


def mistype(pair: Pair, _languages: tuple[str, str], draw: random.Random) -> Pair:
    """Return a pair with typing errors in the source: one, and one more for every 20 characters.

    In words of three letters or more, letters are swapped, dropped, doubled or replaced by a
    neighbour on the keyboard, and spaces are added or left out. Letters without capital
    forms are not changed.
    """
    source = pair[0]
    for _ in range(1 + len(source) // LETTERS_PER_TYPO):
        places = [place for word in WORD.finditer(source) for place in range(*word.span(1))]
        places = [place for place in places if source[place].lower() != source[place].upper()]
        if not places:
            break
        at = pick(places, draw)
        letter, after = source[at], source[at + 1 : at + 2]
        kinds = [letter * 2 + after, after, find_neighbouring_key(letter, draw) + after]
        if after.isalpha():
            kinds += [after + letter, f"{letter} {after}"]
        elif after == " ":
            kinds.append(letter)
        source = source[:at] + pick(kinds, draw) + source[at + 2 :]
    return source, pair[1]


def find_neighbouring_key(letter: str, draw: random.Random) -> str:
    """Return a letter next to this one on a keyboard; "" if the keyboard lacks this letter."""
    row = next((row for row in ROWS if letter.lower() in row), "")
    at = row.find(letter.lower())
    found = pick(row[max(at - 1, 0) : at] + row[at + 1 : at + 2], draw) if row else ""
    return found.upper() if letter.isupper() else found


def copy_token(pair: Pair, _languages: tuple[str, str], draw: random.Random) -> Pair:
    """Return a pair with a made-up name, code, emoji or URL added at the same end of both sides."""
    word = "".join(pick(SYLLABLES, draw) for _ in range(2 + int(2 * draw.random())))
    number = int(10_000 * draw.random())
    tokens = (
        word.title(),
        f"{word[:2].upper()}-{number}",
        chr(0x1F600 + number % 64),  # a face
        f"https://{word}.org/{number}",
    )
    token = pick(tokens, draw)
    source, target = pair
    if draw.random() < 0.5:
        return f"{token} {source}", f"{token} {target}"
    return f"{source} {token}", f"{target} {token}"


def pick(options: Sequence[Option], draw: random.Random) -> Option:
    """Return an option drawn with `draw`; a seed gives the same one in every version of Python."""
    return options[int(draw.random() * len(options))]


CHANGE: Mapping[str, Change] = MappingProxyType(  # by the name of the setting
    dict(zip(CHANGES, (copy_token, mistype, drop_end_mark, title_case, upper_case), strict=True))
)


@final
@dataclass(frozen=True)
class DrawnChanges:
    """The names of the changes drawn for a pair, and the seed of the random choices inside them."""

    names: list[str]
    seed: int


def draw_changes(data: Data, key: str) -> DrawnChanges:
    """Draw a pair's changes, which depend only on `key` and on each change's share in `data`."""
    *numbers, seed = struct.unpack("<8Q", hashlib.blake2b(key.encode()).digest())
    shares = [(name, int(getattr(data, name) * 2**64)) for name in CHANGES]
    names = [name for number, (name, most) in zip(numbers, shares, strict=False) if number < most]
    return DrawnChanges(names, seed)


def change_pair(pair: Pair, drawn: DrawnChanges, data: Data) -> Pair:
    """Return a pair after applying the drawn changes in order."""
    draw = random.Random(drawn.seed)
    for name in drawn.names:
        pair = CHANGE[name](pair, (data.source_language, data.target_language), draw)
    return pair
