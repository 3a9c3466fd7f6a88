"""Distillation: the translations of a teacher become the training text of a small, fast student."""
