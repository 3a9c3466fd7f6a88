"""Trained models at work: load, translate, evaluate, score pairs, in one process or several."""
