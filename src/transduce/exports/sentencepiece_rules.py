"""What a SentencePiece model does to characters so that its pieces are those of a byte-level one.

Every character beyond ASCII becomes the letters of its UTF-8 bytes, after our cleaning; the rules
for outputs turn them back.
"""

import sys
import unicodedata
from collections.abc import Iterable, Iterator

from transduce.text.clean import normalise
from transduce.vocabulary.symbols import byte_letters

SPACE = "▁"  # how SentencePiece writes a blank
UNASSIGNED = ("Cn", "Cs", "Co")


LETTERS = tuple(byte_letters())


def spell(text: str) -> str:
    """Return a text with every character beyond ASCII as the letters of its bytes."""
    return "".join(
        one if one.isascii() else "".join(LETTERS[byte] for byte in one.encode()) for one in text
    )


def spell_symbol(symbol: str) -> str:
    """Return one of our symbols as a SentencePiece piece: blanks are written ▁."""
    return symbol.replace(LETTERS[ord(" ")], SPACE)


def list_characters() -> Iterator[str]:
    """Yield every assigned character of Unicode, private ones and surrogates excepted."""
    characters = map(chr, range(1, sys.maxunicode + 1))
    return (one for one in characters if unicodedata.category(one) not in UNASSIGNED)


def clean_character(character: str) -> str:
    """Return what our cleaning leaves of a character inside a text; a blank stays one blank."""
    return (
        normalise(f"a{character}b")[1:-1] if character.isascii() else clean_beyond_ascii(character)
    )


def clean_beyond_ascii(character: str) -> str:
    """Return what our cleaning leaves of a character, without letters that could join it."""
    return " " if character.isspace() else normalise(character)


def list_input_rules(characters: Iterable[str]) -> dict[str, str]:
    """Return what sequences of characters become: cleaned, composed, and spelled in bytes."""
    rules = dict[str, str]()
    for one in characters:
        cleaned = spell(clean_character(one))
        forms = {one, unicodedata.normalize("NFD", one), split_canonically(one)}
        rules |= {form: cleaned for form in forms if form != cleaned}
    return rules


def split_canonically(character: str) -> str:
    """Return a character as the pair that it is composed of, or unchanged."""
    found = unicodedata.decomposition(character)
    if not found or found.startswith("<"):
        return character
    return "".join(chr(int(number, 16)) for number in found.split())


def list_output_rules(characters: Iterable[str]) -> dict[str, str]:
    """Return which sequences of letters become one character again."""
    return {spell(one): one for one in characters if not one.isascii()}


def format_rules(rules: dict[str, str]) -> str:
    """Return rules as lines of hexadecimal code points, as SentencePiece's trainer reads them."""
    return "".join(f"{to_hex(before)}\t{to_hex(after)}\n" for before, after in rules.items())


def to_hex(text: str) -> str:
    """Return a text's code points in hexadecimal."""
    return " ".join(f"{ord(one):X}" for one in text)
