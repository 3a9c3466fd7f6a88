"""Text to figures that carry their signature, the difference of two, and perplexity."""

from transduce.scores.bootstrap import Comparison, compared
from transduce.scores.metrics import METRICS
from transduce.scores.perplexity import Perplexity
from transduce.scores.score import Score
from transduce.scores.scoring import bleu, chrf, scored, ter

__all__ = [
    "METRICS",
    "Comparison",
    "Perplexity",
    "Score",
    "bleu",
    "chrf",
    "compared",
    "scored",
    "ter",
]
