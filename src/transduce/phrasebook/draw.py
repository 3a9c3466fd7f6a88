"""Chance, and what the sentence at hand has named already."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar, final

T = TypeVar("T")


@final
class Draw:
    """A stream of choices from a seed.

    Only `Random.random` is asked: its numbers are the same in every version of Python.
    """

    def __init__(self, seed: int) -> None:
        self._roll: Callable[[], float] = random.Random(seed).random
        self.named: set[str] = set()

    def chance(self, share: float) -> bool:
        """Whether something happens that happens in this share of all cases."""
        return self._roll() < share

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all alike; what should come more often stands there more often."""
        return options[int(self._roll() * len(options))]

    def number(self, first: int, last: int) -> int:
        """A whole number, both ends included."""
        return first + int(self._roll() * (last - first + 1))
