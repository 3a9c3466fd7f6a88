"""What the explainer takes: how large a model may be, and how long a sentence."""

MAX_WEIGHTS = 5_000_000  # so that a model in a page takes some milliseconds a step
LONGEST = 48  # pieces of a sentence, END included, that is typed into the page
