"""The demo's sentence pairs, English and German, which the grammar in `tools/phrasebook` wrote."""

import lzma
from collections.abc import Iterator
from importlib import resources
from itertools import islice
from types import MappingProxyType

from transduce.errors import InputError, suggest_names

VERSION = 1  # of the grammar; increased by 1 with every change of its sentences
SPLITS = MappingProxyType({"train": 100_000, "dev": 1_000, "test": 1_000, "combinations": 1_000})


def pairs(split: str, count: int) -> Iterator[tuple[str, str]]:
    """Yield the first `count` pairs of a split, all with different English; refuse a larger count.

    The sentences of "combinations" join two words that training has, but never together.
    """
    if split not in SPLITS:
        raise InputError(f"the phrasebook has no split {split!r}", suggest_names(split, SPLITS))
    if not 0 <= count <= SPLITS[split]:
        raise InputError(
            f"the phrasebook has {SPLITS[split]:,} pairs in its split {split}, not {count:,}",
            "ask for fewer, such as with --set data.max_pairs",
        )
    return read_pairs(split, count)


def read_pairs(split: str, count: int) -> Iterator[tuple[str, str]]:
    """Yield the first pairs of a split's file, whose lines have a tab between both sides."""
    file = resources.files(__name__) / f"{split}.tsv.xz"
    with file.open("rb") as packed, lzma.LZMAFile(packed) as lines:
        for line in islice(lines, count):
            english, german = line.decode().rstrip("\n").split("\t")
            yield english, german
