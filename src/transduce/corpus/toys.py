"""Generated text for the toy tasks copy, reverse and sort."""

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


def generate_pairs(name: str, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield `count` different pairs of a toy: 1 to 20 letters, and their copy, reverse or sort.

    The first pairs do not depend on the count. A copy has two equal sides, which cleaning leaves
    out unless `data.drop_identical` is false.
    """
    if name not in TOYS:
        raise InputError(f"there is no toy task {name!r}", suggest_names(name, TOYS))
    return draw_pairs(TOYS[name], count, random.Random(seed))


def draw_pairs(
    toy: Callable[[Letters], Letters], count: int, draws: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield random lines of letters, each different, with the toy's answer."""
    earlier: set[str] = set()
    while len(earlier) < count:
        letters = draws.choices(LETTERS, k=draws.randint(1, LONGEST))
        line = " ".join(letters)
        if line not in earlier:
            earlier.add(line)
            yield line, " ".join(toy(letters))
