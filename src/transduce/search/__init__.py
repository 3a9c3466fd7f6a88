"""Search beyond the paper's: constraints, ensembles, sampling, traces, bounds, joining sources"""
