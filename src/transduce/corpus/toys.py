"""Random lines of letters and their correct outputs, for the toy tasks copy, reverse and sort."""

import random
from collections.abc import Callable, Iterator, Mapping

from transduce.errors import InputError, suggest_names

LETTERS = "abcdefghijklmnopqrst"
MOST_LETTERS = 20  # the greatest number of letters in a line

Letters = list[str]
TOYS: Mapping[str, Callable[[Letters], Letters]] = {
    "copy": list,
    "reverse": lambda letters: letters[::-1],
    "sort": sorted,
}


def generate_pairs(name: str, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield `count` different pairs of a toy task: a line of 1 to 20 letters and the right output.

    A larger `count` yields the same pairs first, and then more. InputError for an unknown task.
    Both sides of a pair of the task "copy" are equal; cleaning drops pairs with equal sides unless
    `data.drop_identical` is false.
    """
    if name not in TOYS:
        raise InputError(f"there is no toy task {name!r}", suggest_names(name, TOYS))
    generator, earlier = random.Random(seed), set[str]()
    while len(earlier) < count:
        letters = generator.choices(LETTERS, k=generator.randint(1, MOST_LETTERS))
        line = " ".join(letters)
        if line not in earlier:
            earlier.add(line)
            yield line, " ".join(TOYS[name](letters))
