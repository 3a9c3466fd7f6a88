"""Outputs that begin as they are told: the simplest rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Prefix:
    """First these symbols, then whatever the model likes."""

    ids: tuple[int, ...]

    def allowed(self) -> Sequence[int] | None:
        """The next of them."""
        return self.ids[:1] or None

    def advance(self, _symbol: int) -> "Prefix":
        """What is left of them."""
        return Prefix(self.ids[1:]) if self.ids else self
