"""Scores of outputs with their signatures, comparison of two outputs, and perplexity."""
