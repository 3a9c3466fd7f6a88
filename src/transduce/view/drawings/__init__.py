"""Drawings of the paper's formulas as SVG: the positional encoding and the learning rate."""
