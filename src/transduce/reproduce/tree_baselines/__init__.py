"""Parsers without a neural network, the baselines of the trained parser in Table 4."""

from transduce.reproduce.tree_baselines.baselines import BASELINES, parse_with_baseline

__all__ = ["BASELINES", "parse_with_baseline"]
