"""Perplexity: e to the power of the mean negative log-probability (section 6.2, Table 3)."""

import math
from dataclasses import dataclass
from typing import Any, final

from transduce.errors import InputError


@final
@dataclass(frozen=True)
class Perplexity:
    """The perplexity of a text per piece and per word, without label smoothing.

    The numbers of pieces and of words both include the END of each sentence. Table 3 prints the
    perplexity per piece, which is comparable only between models with the same vocabulary.
    """

    nats: float  # sum of -log P over all target sentences
    pieces: int
    words: int

    def __post_init__(self) -> None:
        if self.pieces < 1 or self.words < 1:
            raise InputError("there is no text to take the perplexity of")

    @property
    def per_piece(self) -> float:
        """The perplexity per piece, e^(nats / pieces), as Table 3 prints it."""
        return exp_or_infinity(self.nats / self.pieces)

    @property
    def per_word(self) -> float:
        """The perplexity per word, e^(nats / words), comparable across vocabularies."""
        return exp_or_infinity(self.nats / self.words)

    def __str__(self) -> str:
        return (
            f"perplexity {self.per_piece:,.3f} a piece ({self.pieces:,}),"
            f" {self.per_word:,.3f} a word ({self.words:,})"
        )

    def as_json(self) -> dict[str, Any]:
        """Return both perplexities and their counts as plain values, an infinite one as None."""
        return {
            "per_piece": self.per_piece,
            "per_word": self.per_word if math.isfinite(self.per_word) else None,
            "nats": self.nats,
            "pieces": self.pieces,
            "words": self.words,
        }


def exp_or_infinity(x: float) -> float:
    """Return e^x, or infinity if it is too large for a float."""
    return math.exp(x) if x < 709 else math.inf
