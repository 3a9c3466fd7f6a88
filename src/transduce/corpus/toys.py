"""Random lines of letters and their correct outputs, for the toy tasks copy, reverse and sort."""

import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from transduce.errors import InputError, suggest_names

LETTERS = "abcdefghijklmnopqrst"
LONGEST = 20  # most letters of a line

Letters = list[str]
TOYS: Mapping[str, Callable[[Letters], Letters]] = MappingProxyType(
    {"copy": list, "reverse": lambda letters: letters[::-1], "sort": sorted}
)


def generate_pairs(name: str, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield `count` different pairs of a toy task: 1 to 20 letters, and the right output.

    With a larger count the first pairs are the same. Pairs of the task copy have equal sides;
    cleaning drops such pairs unless `data.drop_identical` is false.
    """
    if name not in TOYS:
        raise InputError(f"there is no toy task {name!r}", suggest_names(name, TOYS))
    return draw_pairs(TOYS[name], count, random.Random(seed))


def draw_pairs(
    toy: Callable[[Letters], Letters], count: int, draws: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield `count` different random lines of letters, each with the toy task's right output."""
    earlier: set[str] = set()
    while len(earlier) < count:
        letters = draws.choices(LETTERS, k=draws.randint(1, LONGEST))
        line = " ".join(letters)
        if line not in earlier:
            earlier.add(line)
            yield line, " ".join(toy(letters))
