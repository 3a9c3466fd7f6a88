"""Tasks that a model must learn without fail: copy, reverse, sort. Their text is made here."""

import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from transduce.errors import InputError, suggest_names

LETTERS = "abcdefghijklmnopqrst"
LONGEST = 20

Letters = list[str]
TOYS: Mapping[str, Callable[[Letters], Letters]] = MappingProxyType(
    {"copy": list, "reverse": lambda letters: letters[::-1], "sort": sorted}
)


def pairs(name: str, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """So many different pairs of lines: 1 to 20 letters with blanks between, and what they become.

    The first pairs do not depend on the count. A copy has two equal sides, which cleaning leaves
    out unless `data.drop_identical` is false.
    """
    if name not in TOYS:
        raise InputError(f"there is no toy task {name!r}", suggest_names(name, TOYS))
    return drawn(TOYS[name], count, random.Random(seed))


def drawn(
    toy: Callable[[Letters], Letters], count: int, draws: random.Random
) -> Iterator[tuple[str, str]]:
    """Lines that did not come before, each with its answer."""
    seen: set[str] = set()
    while len(seen) < count:
        letters = draws.choices(LETTERS, k=draws.randint(1, LONGEST))
        line = " ".join(letters)
        if line not in seen:
            seen.add(line)
            yield line, " ".join(toy(letters))
