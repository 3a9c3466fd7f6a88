"""Character rules that give a SentencePiece model the pieces of a byte-level vocabulary.

The input rules clean a text and write each character beyond ASCII as letters, one for each of
its UTF-8 bytes. The output rules turn the letters back into characters.
"""

import sys
import unicodedata
from collections.abc import Iterable, Iterator

from transduce.text.clean import normalise
from transduce.vocabulary.sentencepiece import SPACE
from transduce.vocabulary.symbols import byte_letters

UNASSIGNED = ("Cn", "Cs", "Co")  # Unicode categories: unassigned, surrogate, private
LETTERS = tuple(byte_letters())


def spell(text: str) -> str:
    """Return a text with each character beyond ASCII written as one letter per UTF-8 byte."""
    return "".join(
        one if one.isascii() else "".join(LETTERS[byte] for byte in one.encode()) for one in text
    )


def spell_symbol(symbol: str) -> str:
    """Return a vocabulary symbol as a SentencePiece piece, in which a space is written ▁."""
    return symbol.replace(LETTERS[ord(" ")], SPACE)


def list_characters() -> Iterator[str]:
    """Yield every assigned character of Unicode except private ones and surrogates."""
    characters = map(chr, range(1, sys.maxunicode + 1))
    return (one for one in characters if unicodedata.category(one) not in UNASSIGNED)


def clean_character(character: str) -> str:
    """Return what normalisation makes of a character inside a text; a space stays a space."""
    return (
        normalise(f"a{character}b")[1:-1] if character.isascii() else clean_beyond_ascii(character)
    )


def clean_beyond_ascii(character: str) -> str:
    """Return a non-ASCII character normalised by itself; whitespace becomes a space."""
    return " " if character.isspace() else normalise(character)


def list_input_rules(characters: Iterable[str]) -> dict[str, str]:
    """Return the input rules: sequences of characters, each with its cleaned, spelled form."""
    rules = dict[str, str]()
    for one in characters:
        cleaned = spell(clean_character(one))
        forms = {one, unicodedata.normalize("NFD", one), split_canonically(one)}
        rules |= {form: cleaned for form in forms if form != cleaned}
    return rules


def split_canonically(character: str) -> str:
    """Return a composed character's two parts, such as e and an accent, or the character itself."""
    found = unicodedata.decomposition(character)
    if not found or found.startswith("<"):
        return character
    return "".join(chr(int(number, 16)) for number in found.split())


def list_output_rules(characters: Iterable[str]) -> dict[str, str]:
    """Return the output rules, which turn byte letters back into each non-ASCII character."""
    return {spell(one): one for one in characters if not one.isascii()}


def format_rules(rules: dict[str, str]) -> str:
    """Return rules as lines of hexadecimal code points, as SentencePiece's trainer reads them."""
    return "".join(f"{to_hex(before)}\t{to_hex(after)}\n" for before, after in rules.items())


def to_hex(text: str) -> str:
    """Return a text's code points in hexadecimal, separated by spaces."""
    return " ".join(f"{ord(one):X}" for one in text)
