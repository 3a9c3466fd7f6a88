"""Filters that drop training pairs: rules for a single pair, and detection of duplicates."""

from array import array
from hashlib import blake2b
from typing import final

from transduce.settings import Data

EMPTY = "empty side"


def exclusion_reason(source: str, target: str, data: Data) -> str:
    """Return why the data settings exclude a normalised sentence pair, or "" if they keep it."""
    shorter, longer = sorted((len(source), len(target)))
    if not shorter:
        return EMPTY
    if longer > data.max_characters:
        return "too many characters"
    if longer > data.max_length_ratio * shorter:
        return "unequal lengths"
    if data.drop_identical and source == target:
        return "identical sides"
    return ""


@final
class DuplicateFilter:
    """A set of sentence pairs, stored as 8-byte hashes in one table with open addressing.

    The table takes 10 to 15 bytes a pair, and 25 while it is enlarged; a Python set of integers
    takes 60 and more. Among 5 million pairs the probability that two different ones have the same
    hash is one in a million.
    """

    def __init__(self) -> None:
        self.table = array("Q", bytes(8 * 1024))  # 0 is an empty slot
        self.count = 0

    def add(self, source: str, target: str) -> bool:
        """Add a normalised pair; return whether it is new to the set."""
        # Normalised text has no newline, so that different pairs give different bytes.
        digest = blake2b(f"{source}\n{target}".encode(), digest_size=8).digest()
        value = int.from_bytes(digest, "little") or 1
        slot = self._find_slot(value)
        if self.table[slot]:
            return False
        self.table[slot] = value
        self.count += 1
        if self.count * 5 > len(self.table) * 4:
            self._grow()
        return True

    def _find_slot(self, value: int) -> int:
        """Return the index of the slot that holds a hash, or of the empty slot to store it."""
        table, slot = self.table, value % len(self.table)
        while table[slot] and table[slot] != value:
            slot = (slot + 1) % len(table)
        return slot

    def _grow(self) -> None:
        """Enlarge the table by half and insert all its hashes again."""
        old = self.table
        self.table = array("Q", bytes(8)) * (len(old) * 3 // 2)
        for value in old:
            if value:
                self.table[self._find_slot(value)] = value
