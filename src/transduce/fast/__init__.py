"""Functions and modules that are faster on a machine, with the results of those in `paper/`"""
