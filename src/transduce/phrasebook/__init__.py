"""An English-German grammar, written for this project, that generates millions of sentences."""

from transduce.phrasebook.size import at_least
from transduce.phrasebook.splits import SPLITS, VERSION, pairs

__all__ = ["SPLITS", "VERSION", "at_least", "pairs"]
