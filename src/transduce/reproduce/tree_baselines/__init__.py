"""Parsers without a neural network: what a learned parser's F1 stands beside in Table 4."""

from transduce.reproduce.tree_baselines.baselines import BASELINES, baseline_trees

__all__ = ["BASELINES", "baseline_trees"]
