"""Checks SentencePiece's compiled normaliser before the library tokenizers reads it.

This normaliser, the charsmap, consists of the size of a trie in bytes, the trie, and replacements
that end with a NUL. The trie is a double array of units of 4 bytes. A node holds an index i, and
its child for byte c is at i XOR c. The library does not check the indices that it computes from a
file, so that a wrong one would crash the process.
"""

import base64
import binascii

import numpy as np
from jaxtyping import Bool, Int64, UInt32

LIMIT = 1 << 21  # bytes; the normalisers that come with SentencePiece have up to 250,000
DEPTH = 1_000  # bytes that a replaced text may have
BLOCK = 1 << 12  # nodes that are checked together
HAS_LEAF, LABEL, VALUE = 1 << 8, 1 << 31 | 0xFF, (1 << 31) - 1  # bits of a unit
Nodes = Int64[np.ndarray, " N"]  # each node's index i: its child for byte c is at i XOR c


def require_charsmap(text: str) -> None:
    """Raise ValueError unless every path in a base64 charsmap's trie stays inside of its arrays."""
    units, replacements = split_charsmap(text)
    boundaries = find_boundaries(replacements)
    seen = np.zeros(len(units), dtype=bool)
    new = compute_offsets(units[:1])
    for _ in range(DEPTH):
        require_inside(new, len(units))
        new = np.unique(new[~seen[new]])
        seen[new] = True
        if not len(new):
            return
        starts = range(0, len(new), BLOCK)
        new = np.concatenate(
            [find_children(units, new[at : at + BLOCK], boundaries) for at in starts]
        )
    raise ValueError(f"a charsmap that replaces texts of more than {DEPTH:,} bytes")


def split_charsmap(text: str) -> tuple[UInt32[np.ndarray, " U"], bytes]:
    """Split a base64 charsmap into trie units and replacements; ValueError if it is malformed."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError) as error:
        raise ValueError("a charsmap that is no base64") from error
    size = int.from_bytes(data[:4], "little")
    if not 4 < len(data) <= LIMIT or not size or size % 4 or size > len(data) - 4:
        raise ValueError("a charsmap whose trie is not there")
    data[4 + size :].decode()  # UnicodeDecodeError is a ValueError
    return np.frombuffer(data[4 : 4 + size], "<u4"), data[4 + size :]


def find_boundaries(replacements: bytes) -> Bool[np.ndarray, " B"]:
    """Return for each byte offset whether a character begins or the text ends there."""
    codes = np.frombuffer(replacements + b"\0", np.uint8)
    return (codes & 0xC0) != 0x80


def find_children(
    units: UInt32[np.ndarray, " U"], nodes: Nodes, boundaries: Bool[np.ndarray, " B"]
) -> Int64[np.ndarray, " C"]:
    """Return the index, as in `Nodes`, of each child of `nodes`; ValueError if one is invalid."""
    labels = np.arange(1, 256)
    at = nodes[:, None] ^ labels
    require_inside(at, len(units))
    is_child = (units[at] & LABEL) == labels
    children, found = at[is_child], units[at[is_child]]
    below = children ^ compute_offsets(found)
    require_inside(below, len(units))
    values = (units[below[(found & HAS_LEAF) != 0]] & VALUE).astype(np.int64)
    require_inside(values, len(boundaries))
    if not boundaries[values].all():
        raise ValueError("a charsmap with half a character as replacement")
    return below


def compute_offsets(units: UInt32[np.ndarray, " N"]) -> Nodes:
    """Return the offset in each unit: its bits from 10 on, shifted left by 8 if bit 9 is set."""
    wide = units.astype(np.int64)
    return (wide >> 10) << ((wide & 1 << 9) >> 6)


def require_inside(indices: Int64[np.ndarray, "..."], size: int) -> None:
    """Raise ValueError if an index is beyond an array of this size."""
    if indices.size and indices.max() >= size:
        raise ValueError("a charsmap whose trie leads out of it")
