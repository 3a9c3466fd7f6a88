"""Symbols and their ids: 0 end, 1 begin, then the 256 bytes, then the learned pieces.

There is no padding and nothing is unknown. In files a byte is written as one visible letter, as
byte-level vocabularies do everywhere: what is printable in Latin-1 stands for itself, the other
bytes for the letters from U+0100 on, in order. A blank is so "Ġ", the byte 0x0A "Ċ".
"""

from collections.abc import Sequence

END, BEGIN, BYTES = 0, 1, 256
SPECIALS = ("</s>", "<s>")
Merge = tuple[str, str]


def byte_letters() -> list[str]:
    """Return the visible letter that stands for each of the 256 bytes, indexed by byte."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(others)) for byte in range(BYTES)]


def list_symbols(merges: Sequence[Merge]) -> list[str]:
    """Return all symbols, indexed by id; a piece that two merges give keeps its first id."""
    return list(dict.fromkeys([*SPECIALS, *byte_letters(), *map("".join, merges)]))


def symbol_bytes(symbol: str, values: dict[str, int]) -> bytes:
    """Return the UTF-8 bytes that a symbol stands for; none for end and begin."""
    return b"" if symbol in SPECIALS else bytes(values[letter] for letter in symbol)


def make_readable(piece: bytes) -> str:
    """Return a piece's bytes as readable text: blanks as ␣, partial characters as <E2>."""
    return "".join(
        "␣" if c == " " else c if c.isprintable() else escape_bytes(c)
        for c in piece.decode("utf-8", errors="surrogateescape")
    )


def escape_bytes(character: str) -> str:
    """Return the bytes of one character in angle brackets: <C2><A0>."""
    return "".join(f"<{byte:02X}>" for byte in character.encode("utf-8", "surrogateescape"))
