"""Figures 3, 4 and 5 of the paper, drawn from the attention weights of any model."""
