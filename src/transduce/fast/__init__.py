"""Faster functions with the results of those in `paper/`, for the machine at hand."""
