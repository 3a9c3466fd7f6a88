"""Drawings as SVG: Figures 1 and 2, the positional encoding, the learning rate, and trees."""
