"""Symbols and their ids: 0 is END, 1 is BEGIN, then the 256 bytes, then the learned pieces.

This holds for byte-pair and word-piece vocabularies. They have no padding symbol and no unknown
symbol. Their files write each byte as one visible letter: a byte that is printable in Latin-1 as
that character, and the other bytes, in order, as the letters from U+0100 on. A space is "Ġ", the
byte 0x0A is "Ċ".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, final

END, BEGIN, BYTES = 0, 1, 256
SPECIALS = ("</s>", "<s>")
Merge = tuple[str, str]
BLANKS = frozenset(" \t\n\v\f\r")  # they separate the words of tokenised text
# The "pre_tokenizer" entry of tokenizer.json that splits text at spaces.
SPACE_SPLIT = {
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "Removed",
    "invert": False,
}


@final
@dataclass(frozen=True)
class VocabularyKind:
    """A vocabulary's symbols, and the parts of its tokenizer.json that depend on its kind."""

    symbols: Sequence[str]  # indexed by id
    symbol_bytes: Sequence[bytes]  # the UTF-8 bytes that each symbol stands for
    model: Mapping[str, Any]  # the entry that cuts words into symbols
    pre_tokenizer: Mapping[str, Any]  # the entry that cuts text into words
    decoder: Mapping[str, Any] | None  # the entry that joins symbols to text; None: with spaces
    normalizer: Mapping[str, Any] | None = None
    prepare: Callable[[str], str] = str  # rewrites text that the symbols cannot spell


def byte_letters() -> list[str]:
    """Return the 256 visible letters that stand for the bytes 0 to 255 in vocabulary files."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(others)) for byte in range(BYTES)]


def list_symbols(merges: Sequence[Merge]) -> list[str]:
    """Return END, BEGIN, the 256 bytes and the pieces that merges produce, in the order of ids."""
    return list(dict.fromkeys([*SPECIALS, *byte_letters(), *map("".join, merges)]))


def require_words(symbols: Sequence[str]) -> None:
    """Raise ValueError if a symbol is empty, is END or BEGIN, or has ASCII whitespace in it."""
    for symbol in symbols:
        if not symbol or symbol in SPECIALS or not BLANKS.isdisjoint(symbol):
            raise ValueError(f"{symbol[:40]!r} is no symbol")


def list_word_bytes(symbols: Sequence[str]) -> list[bytes]:
    """Return each word's bytes with a space at the end; b"" for END and BEGIN."""
    return [b"" if symbol in SPECIALS else f"{symbol} ".encode() for symbol in symbols]


def make_readable(piece: bytes) -> str:
    """Return a piece as readable text, with ␣ for a space and <E2> for an unprintable byte."""
    readable = list[str]()
    for c in piece.decode("utf-8", errors="surrogateescape"):
        as_bytes = "".join(f"<{byte:02X}>" for byte in c.encode("utf-8", "surrogateescape"))
        readable.append("␣" if c == " " else c if c.isprintable() else as_bytes)
    return "".join(readable)


def assign_ids(symbols: Sequence[str]) -> dict[str, int]:
    """Return a dict from each symbol to its id, which is its index in the list."""
    return {symbol: number for number, symbol in enumerate(symbols)}


def group_words(
    pieces: Sequence[bytes], find_starts: Callable[[str], list[bool]]
) -> list[tuple[int, int]]:
    """Return the range (first, end) of each word's pieces; `find_starts` marks where words begin.

    A piece without bytes, such as END, is a word of its own. A piece begins a word if a word begins
    at its first byte that is no space; a piece that is one space begins the word after the space.
    """
    starts = find_start_bytes(b"".join(pieces), find_starts)
    firsts, offset, before = list[int](), 0, b""
    for index, piece in enumerate(pieces):
        at = offset + len(piece) - len(piece.lstrip(b" "))
        if not (before and piece) or piece == b" " or (at in starts and before != b" "):
            firsts.append(index)
        before, offset = piece, offset + len(piece)
    return list(pairwise([*firsts, len(pieces)]))


def find_start_bytes(data: bytes, find_starts: Callable[[str], list[bool]]) -> set[int]:
    """Return the byte offsets of the words that `find_starts` finds in the decoded text."""
    text = data.decode("utf-8", errors="surrogateescape")
    widths = [len(one.encode("utf-8", errors="surrogateescape")) for one in text]
    offsets = accumulate(widths[:-1], initial=0)
    return {at for at, start in zip(offsets, find_starts(text), strict=False) if start}


def find_token_starts(text: str) -> list[bool]:
    """Return, for each character of a tokenised text, whether a word begins with this character."""
    return [one != " " and before == " " for before, one in zip(" " + text, text, strict=False)]
