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
    perplexity per piece, which is comparable only between models with the same vocabulary. Where no
    line of a text can be scored, `nats` is nan with counts of 0, and both perplexities are nan.
    Outputs without words, such as trees, have 0 words and no perplexity per word.
    """

    nats: float  # sum of -log P over all target sentences
    pieces: int
    words: int

    def __post_init__(self) -> None:
        if not math.isnan(self.nats) and (self.pieces < 1 or self.words < 0):
            raise InputError("there is no text to take the perplexity of")

    @property
    def per_piece(self) -> float:
        """The perplexity per piece, e^(nats / pieces), as Table 3 prints it."""
        return exp_of_mean(self.nats, self.pieces)

    @property
    def per_word(self) -> float:
        """The perplexity per word, e^(nats / words), comparable across vocabularies."""
        return exp_of_mean(self.nats, self.words)

    def __str__(self) -> str:
        piece, word = (
            f"{one:,.3f}" if not one >= 1e6 else f"{one:.2e}"  # nan included
            for one in (self.per_piece, self.per_word)
        )
        per_piece = f"perplexity {piece} a piece ({self.pieces:,})"
        if self.pieces and not self.words:
            return per_piece
        return f"{per_piece}, {word} a word ({self.words:,})"

    def as_json(self) -> dict[str, Any]:
        """Return perplexities, nats and counts for JSON, with None for infinity and nan."""
        values = {"per_piece": self.per_piece, "per_word": self.per_word, "nats": self.nats}
        finite = {name: x if math.isfinite(x) else None for name, x in values.items()}
        return finite | {"pieces": self.pieces, "words": self.words}


def exp_of_mean(total: float, count: int) -> float:
    """Return e^(total / count); infinity where a float overflows, nan if `count` is 0."""
    if count == 0:
        return math.nan
    return math.exp(total / count) if total / count < 709 else math.inf
