"""Data blocks of a page, whose text the page's script reads and a browser never runs."""

import base64
import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

import numpy as np

# Characters that could end a script element or a line of a script, and lone surrogates, which
# UTF-8 cannot hold; JSON reads all of them back from their \u codes.
UNSAFE = frozenset({*map(ord, "<>&\u2028\u2029\x7f"), *range(0xD800, 0xE000)})
ESCAPES = MappingProxyType({code: f"\\u{code:04x}" for code in UNSAFE})


@final
@dataclass(frozen=True)
class DataBlock:
    """A script element that holds data: its id, its media type and a text without `<`."""

    identifier: str
    media_type: str
    text: str

    def to_html(self) -> str:
        """Return the data block as a script element; its text has no `<`, which could close it."""
        assert "<" not in self.text, self.identifier
        return f'<script type="{self.media_type}" id="{self.identifier}">{self.text}</script>'


def json_block(identifier: str, value: object) -> DataBlock:
    """Return a data block of JSON; equal values give equal bytes, NaN and infinity are refused."""
    return DataBlock(identifier, "application/json", encode_json(value))


def base64_block(identifier: str, content: bytes) -> DataBlock:
    """Return a data block of bytes in base64, which the page decodes."""
    return DataBlock(identifier, "text/plain", base64.b64encode(content).decode("ascii"))


def seven_bit_block(identifier: str, content: bytes) -> DataBlock:
    """Return a block of bytes as 7-bit text, 1.17 times their size (base64: 1.33 times)."""
    return DataBlock(identifier, "text/plain", encode_seven_bits(content))


def encode_seven_bits(content: bytes) -> str:
    """Return bytes as text in which each character holds the next seven bits, filled up with zeros.

    Characters that HTML does not keep (NUL, CR) or that could end the block (<) are moved by 256.
    """
    padded = np.frombuffer(content + bytes(-len(content) % 7), np.uint8)
    sevens = np.packbits(np.unpackbits(padded).reshape(-1, 7), axis=1) >> 1
    text = sevens.tobytes().decode("ascii")
    for character in "\0\r<":
        text = text.replace(character, chr(ord(character) + 256))
    return text


def encode_json(value: object) -> str:
    """Return JSON that is safe inside of a script element, whatever its strings hold.

    `<`, `>`, `&`, U+2028, U+2029 and lone surrogates are written as \\u codes.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(ESCAPES)
