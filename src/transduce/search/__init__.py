"""Search beyond the paper's: constraints, ensembles, sampling, traces and prefixes"""
