"""Parsers without a neural network, the baselines of the trained parser in Table 4."""
