"""Random changes to training pairs for a robust model, such as upper case or typing errors.

Each change takes a pair and returns a new one, or the same pair if nothing can change. No change
replaces a word together with its translation, because the words are not aligned.
"""

import hashlib
import random
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from transduce.settings import Data
from transduce.settings.data import CHANGES
from transduce.text.languages import read_primary_code
from transduce.text.sentences import CLAUSE_ENDS, CLOSING, split_clauses, split_sentences

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
CLAUSE_MARKS = "".join(CLAUSE_ENDS) + "- "
LARGEST_DIFFERENCE = 0.1  # most that two first clauses may differ in their share of their lines
SYLLABLES = tuple(first + second for first in "bdfgklmnprstvz" for second in "aeiou")


def shorten(pair: Pair, _languages: tuple[str, str], draw: random.Random) -> Pair:
    """Return a pair cut to a random sentence or its first clause; the same pair if sides mismatch.

    A pair of several sentences is cut to one of them, and a single sentence to its first clause,
    without the mark at its end. The sides mismatch if their sentences or clauses end with
    different marks, or if the first clause is a much larger share of one side. Later clauses are
    never taken, because word order differs: German has "bleibe ich" after "Wenn es regnet,".
    """
    source, target = (split_sentences(side) for side in pair)
    if len(source) > 1 or len(target) > 1:
        agree = list_marks(source) == list_marks(target)
        return pick(list(zip(source, target, strict=True)), draw) if agree else pair
    source, target = (split_clauses(side) for side in pair)
    if len(source) < 2 or list_marks(source) != list_marks(target):
        return pair
    first = (source[0].rstrip(CLAUSE_MARKS), target[0].rstrip(CLAUSE_MARKS))
    difference = len(source[0]) / len(pair[0]) - len(target[0]) / len(pair[1])
    return first if all(first) and abs(difference) < LARGEST_DIFFERENCE else pair


def list_marks(parts: Sequence[str]) -> list[str]:
    """Return each part's final punctuation mark, ignoring quotes and brackets; "" if none."""
    ends = (part.rstrip(CLOSING)[-1:] for part in parts)
    return ["" if end.isalnum() else end for end in ends]


def upper_case(pair: Pair, languages: tuple[str, str], _draw: random.Random) -> Pair:
    """Return a pair in capitals; the same pair if the source has no small letters."""
    source, target = (to_capitals(*side) for side in zip(pair, languages, strict=True))
    return pair if source == pair[0] else (source, target)


def to_capitals(text: str, language: str) -> str:
    """Return text in capitals, with İ for the i of Turkish and Azerbaijani."""
    return (text.replace("i", "İ") if read_primary_code(language) in DOTTED else text).upper()


def title_case(pair: Pair, languages: tuple[str, str], _draw: random.Random) -> Pair:
    """Return a pair with each word capitalised; the same pair if the source stays unchanged."""

    def raise_first(text: str, language: str) -> str:
        return FIRST_LETTER.sub(
            lambda found: found[1] + to_capitals(found[2], language).title(), text
        )

    source, target = (raise_first(*side) for side in zip(pair, languages, strict=True))
    return pair if source == pair[0] else (source, target)


def drop_end_mark(pair: Pair, _languages: tuple[str, str], _draw: random.Random) -> Pair:
    """Return a pair without ¿, ¡ and final marks like the full stop; the same pair if it has none.

    The pair is unchanged if the source has no such mark, or if a side would become empty.
    """
    source, target = (OPENING_MARKS.sub("", side.rstrip(END_MARKS).rstrip()) for side in pair)
    return (source, target) if source and target and source != pair[0] else pair


def mistype(pair: Pair, _languages: tuple[str, str], draw: random.Random) -> Pair:
    """Return a pair with up to 1 + n // 20 typing errors in its source of n characters.

    In words of three letters or more, letters are swapped, dropped, doubled or replaced by a
    neighbour on the keyboard, and spaces are added or left out. Letters of scripts without
    capitals are not changed.
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
    """Return a random neighbour of a letter in its row of a keyboard; "" if it has no key."""
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
    """Return a random option; equal seeds of `draw` give equal options in every Python version."""
    return options[int(draw.random() * len(options))]


CHANGE: Mapping[str, Change] = {  # by the name of the setting
    "short_input": shorten,
    "copied_token": copy_token,
    "typos": mistype,
    "no_end_mark": drop_end_mark,
    "title_case": title_case,
    "upper_case": upper_case,
}


class DrawnChanges(NamedTuple):
    """The changes drawn for a pair, as keys of `CHANGE`, and the seed of their random choices."""

    names: list[str]
    seed: int


def draw_changes(data: Data, key: str) -> DrawnChanges:
    """Draw a pair's changes from a hash of `key` and the probability of each change in `data`."""
    *first, sixth, _, seed = struct.unpack("<8Q", hashlib.blake2b(key.encode()).digest())
    numbers = (sixth, *first)  # short_input, the first change, takes the sixth number
    shares = [(name, int(getattr(data, name) * 2**64)) for name in CHANGES]
    names = [name for number, (name, most) in zip(numbers, shares, strict=True) if number < most]
    return DrawnChanges(names, seed)


def change_pair(pair: Pair, drawn: DrawnChanges, data: Data) -> Pair:
    """Return a pair after applying the drawn changes in order."""
    draw = random.Random(drawn.seed)
    for name in drawn.names:
        pair = CHANGE[name](pair, (data.source_language, data.target_language), draw)
    return pair
