"""The explainer, a page in which a small trained model runs, with every step shown."""

MAX_WEIGHTS = 5_000_000  # so that a model in a page takes some milliseconds a step
LONGEST = 48  # the most pieces of a sentence typed into the page, END included
