"""Functions and modules that are faster than those of `paper/`, with the same results"""
