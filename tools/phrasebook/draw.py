"""Random choices for one sentence, and the words that it already contains."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar, final

T = TypeVar("T")


@final
class Draw:
    """A reproducible stream of random choices from a seed.

    Only `Random.random` is used: its numbers are the same in every version of Python.
    """

    def __init__(self, seed: int) -> None:
        self._roll: Callable[[], float] = random.Random(seed).random
        self.named: set[str] = set()

    def chance(self, share: float) -> bool:
        """Return True with the probability `share`, otherwise False."""
        return self._roll() < share

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options with equal probability; repeat an option to raise its share."""
        return options[int(self._roll() * len(options))]

    def number(self, first: int, last: int) -> int:
        """Return a random whole number from `first` to `last`, both included."""
        return first + int(self._roll() * (last - first + 1))
