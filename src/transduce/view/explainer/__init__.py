"""The explainer, a page in which a small trained model runs step by step, and its two limits."""

MAX_WEIGHTS = 5_000_000  # so that a model in a page takes a few milliseconds per step
LONGEST = 48  # the most pieces of a source sentence in the page, END included
