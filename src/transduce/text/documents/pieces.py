"""The value `Piece`: an unchanged stretch of text or of markup in a document."""

from dataclasses import dataclass
from typing import Literal, final

Kind = Literal["text", "open", "close", "empty", "boundary"]


@final
@dataclass(frozen=True)
class Piece:
    """A stretch of a document: text, inline tag, other inline markup, or a sentence boundary.

    `kind` is "empty" for inline markup that is no tag of a pair, such as an image. `name` is the
    name of a tag.
    """

    kind: Kind
    raw: str
    name: str = ""


def pair_tags(markup: list[Piece]) -> dict[int, int]:
    """Return a dict from the index of each paired tag in `markup` to the index of its partner."""
    partners, pending = dict[int, int](), list[int]()
    for index, piece in enumerate(markup):
        if piece.kind == "open":
            pending.append(index)
        elif piece.kind == "close" and pending and markup[pending[-1]].name == piece.name:
            partners[index] = pending.pop()
            partners[partners[index]] = index
    return partners
