"""Which id is which symbol: 0 end, 1 begin, then the 256 bytes, then the pieces by their merge.

There is no padding and nothing is unknown. In files a byte is written as one visible letter, as
byte-level vocabularies do everywhere: what is printable in Latin-1 stands for itself, the other
bytes for the letters from U+0100 on, in order. A blank is so "Ġ", the byte 0x0A "Ċ".
"""

from collections.abc import Sequence

END, BEGIN, BYTES = 0, 1, 256
SPECIALS = ("</s>", "<s>")
Merge = tuple[str, str]


def letters() -> list[str]:
    """The letter of every byte, by its value."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in plain else next(others)) for byte in range(BYTES)]


def symbols(merges: Sequence[Merge]) -> list[str]:
    """All symbols by id; a piece that two merges lead to has the place of the first."""
    return list(dict.fromkeys([*SPECIALS, *letters(), *(left + right for left, right in merges)]))


def bytes_of(symbol: str, values: dict[str, int]) -> bytes:
    """What a symbol stands for in UTF-8; nothing for end and begin."""
    return b"" if symbol in SPECIALS else bytes(values[letter] for letter in symbol)


def readable(piece: bytes) -> str:
    """Bytes for people: blanks as ␣, and as <E2> what is no whole or no visible character."""
    return "".join(
        "␣" if c == " " else c if c.isprintable() else hexadecimal(c)
        for c in piece.decode("utf-8", errors="surrogateescape")
    )


def hexadecimal(character: str) -> str:
    """The bytes of one character: <C2><A0>."""
    return "".join(f"<{byte:02X}>" for byte in character.encode("utf-8", "surrogateescape"))
