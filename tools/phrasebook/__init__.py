"""An English-German grammar, written for this project, that generates millions of sentences."""

from tools.phrasebook.size import at_least
from tools.phrasebook.splits import SPLITS, pairs

__all__ = ["SPLITS", "at_least", "pairs"]
