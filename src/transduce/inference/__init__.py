"""Use of trained models: load, translate, evaluate, score pairs, in one process or several."""
