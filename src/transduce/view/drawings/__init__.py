"""Drawings as SVG: the positional encoding, the learning rate, and trees."""
