"""What Figures 3, 4 and 5 of the paper show: sentences, layer, heads and words."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from transduce.errors import InputError

LAYER = 5  # "layer 5 of 6" in the captions, counted from 1
MAKING = (
    "It is in this spirit that a majority of American governments have passed new laws since 2009 "
    "making the registration or voting process more difficult."
)
LAW = (
    "The Law will never be perfect, but its application should be just - this is what we are "
    "missing, in my opinion."
)


@final
@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper: its sentence, its heads, and the word whose weights are drawn."""

    number: int
    text: str
    heads: tuple[int, ...]  # from 1; all heads if empty
    word: str = ""  # the attending word; "" if no single word is shown
    read: tuple[str, ...] = ()  # the words that `word` attends to

    def panels(self, heads: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Return (heads, word) of each panel, from top to bottom; the word "" shows all words."""
        if self.number == 3:
            return ((heads, self.word),)
        if self.number == 4:
            return ((heads[:1], ""), (heads, self.word))
        return tuple(((head,), "") for head in heads)


FIGURES: Mapping[int, PaperFigure] = MappingProxyType(
    {
        3: PaperFigure(3, MAKING, (), "making", ("more", "difficult")),
        4: PaperFigure(4, LAW, (5, 6), "its", ("Law", "application")),
        5: PaperFigure(5, LAW, (3, 4)),
    }
)


def require_heads(heads: tuple[int, ...], layer: int, layers: int, count: int) -> None:
    """Refuse a layer that is not from 1 to `layers`, or a head that is not from 1 to `count`."""
    if layer not in range(1, layers + 1):
        fact = f"there is no layer {layer}: this model has {layers:,}"
        raise InputError(fact, f"--layer 1 to {layers}, or --find")
    for head in heads:
        if head not in range(1, count + 1):
            fact = f"there is no head {head}: this model has {count:,}"
            raise InputError(fact, f"--heads with numbers from 1 to {count}, or --find")
