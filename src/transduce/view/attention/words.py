"""Joins pieces into words, and attention weights between pieces into weights between words.

A word is a run of letters and digits, or of punctuation. An apostrophe between letters and a point
or comma between digits belong to their word. In tokenised text, words are separated by spaces. In
scripts that do not separate words by spaces, each piece is a word of its own.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float32

from transduce.view.attention.record import PieceSequence, Word
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.symbols import find_spaced_starts, group_words

# H heads · Q query positions · K key positions

BLANK = "␣"
JOINERS = {"'": str.isalpha, "’": str.isalpha, ".": str.isdigit, ",": str.isdigit}
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


def read_sequence(
    vocabulary: Vocabulary, ids: Sequence[int], *, is_tokenised: bool
) -> PieceSequence:
    """Return readable pieces of ids, and their words (split only at spaces if `is_tokenised`)."""
    values = [vocabulary.piece_bytes(number) for number in ids]
    text = b"".join(values).decode("utf-8", errors="replace").strip()
    words = group_words(values, find_spaced_starts if is_tokenised else find_word_starts)
    pieces = tuple(readable_piece(vocabulary, piece_id) for piece_id in ids)
    named = [
        Word(first, end - 1, name_word(values[first:end], pieces[first])) for first, end in words
    ]
    return PieceSequence(pieces, tuple(named), text)


def readable_piece(vocabulary: Vocabulary, piece_id: int) -> str:
    """Return a piece as readable text; a final "␣" is left out unless it is the whole piece."""
    piece = vocabulary.piece(piece_id)
    return piece.removesuffix(BLANK) or piece


def name_word(values: Sequence[bytes], first_piece: str) -> str:
    """Decode a word from the bytes of its pieces; return `first_piece` if they are only spaces."""
    return b"".join(values).decode("utf-8", errors="replace").strip() or first_piece


def find_word_starts(text: str) -> list[bool]:
    """Return for each character of a text whether a word or a run of punctuation begins there."""
    kinds = [classify_character(text, index) for index in range(len(text))]
    return [
        kind != " " and (kind != before or kind == "unspaced")
        for before, kind in zip([" ", *kinds], kinds, strict=False)
    ]


def classify_character(text: str, index: int) -> str:
    """Return a character's kind: " ", "letter", "punctuation", or "unspaced" (as in Chinese)."""
    one = text[index]
    if one in JOINERS and 0 < index < len(text) - 1:
        joins = JOINERS[one]
        return "letter" if joins(text[index - 1]) and joins(text[index + 1]) else "punctuation"
    return classify_alone(one)


@lru_cache(maxsize=4096)
def classify_alone(character: str) -> str:
    """Return a character's kind from the character alone; an undecodable byte is a "letter"."""
    if character == " ":
        return " "
    if unicodedata.name(character, "").startswith(UNSPACED):
        return "unspaced"
    is_mark = unicodedata.category(character) in ("Mn", "Mc", "Me", "Cs", "Cf")
    return "letter" if character.isalnum() or is_mark else "punctuation"


def join_words(
    weights: Float32[np.ndarray, "*H Q K"], queries: Sequence[Word], keys: Sequence[Word]
) -> Float32[np.ndarray, "*H Qw Kw"]:
    """Return weights between words: sums over a key word's pieces, means over a query word's."""
    summed = np.add.reduceat(weights, [word.first for word in keys], axis=-1)
    counts = np.array([word.last - word.first + 1 for word in queries], dtype=np.float32)
    rows = np.add.reduceat(summed, [word.first for word in queries], axis=-2)
    return rows / counts[:, None]


def is_punctuation(text: str) -> bool:
    """Return whether a word is nothing but punctuation; marks such as "</s>" are not."""
    return bool(text) and all(classify_alone(one) == "punctuation" for one in text)
