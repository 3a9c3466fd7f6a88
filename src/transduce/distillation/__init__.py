"""Distillation: the translations of a teacher become the training text of a small, fast student."""

STAGES = ("text", "shards", "pairs", "run", "model", "report")  # each a folder, in this order
LONGEST = 2_000  # characters of a line; a longer one is no sentence, and is left out
