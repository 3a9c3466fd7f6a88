"""Scores of outputs with their signatures, comparison of two outputs, and perplexity.

Trees are scored in `brackets`, labels of tokens in `spans`.
"""

from transduce.scores.bootstrap import Comparison, compare_outputs
from transduce.scores.metrics import METRICS
from transduce.scores.perplexity import Perplexity
from transduce.scores.score import Score
from transduce.scores.scoring import bleu, chrf, compute_score, labelled_f1, ter

__all__ = [
    "METRICS",
    "Comparison",
    "Perplexity",
    "Score",
    "bleu",
    "chrf",
    "compare_outputs",
    "compute_score",
    "labelled_f1",
    "ter",
]
