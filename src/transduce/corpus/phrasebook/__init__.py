"""A grammar of English and German, written for this project, that speaks millions of sentences.

>>> list(pairs("train", 1))  # doctest: +SKIP
[("She gets up at half past four.", "Sie steht um halb fünf auf.")]
"""

from transduce.corpus.phrasebook.splits import SPLITS, pairs

__all__ = ["SPLITS", "pairs"]
