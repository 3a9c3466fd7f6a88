"""Text to figures that carry their signature, and perplexity."""

from transduce.scores.metrics import METRICS
from transduce.scores.perplexity import Perplexity
from transduce.scores.score import Score
from transduce.scores.translation import bleu, chrf, scored, ter

__all__ = ["METRICS", "Perplexity", "Score", "bleu", "chrf", "scored", "ter"]
