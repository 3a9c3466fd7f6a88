"""A grammar of English and German, written for this project, that speaks millions of sentences."""

from transduce.corpus.phrasebook.size import at_least
from transduce.corpus.phrasebook.splits import SPLITS, VERSION, pairs

__all__ = ["SPLITS", "VERSION", "at_least", "pairs"]
