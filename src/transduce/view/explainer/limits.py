"""Limits of the explainer: the size of a model and the length of a sentence."""

MAX_WEIGHTS = 5_000_000  # so that a model in a page takes some milliseconds a step
LONGEST = 48  # pieces of a sentence, END included, that is typed into the page
