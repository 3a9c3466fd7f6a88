"""Parsers without a neural network, the baselines of the trained parser in Table 4."""

from transduce.reproduce.tree_baselines.baselines import BASELINES, baseline_trees

__all__ = ["BASELINES", "baseline_trees"]
