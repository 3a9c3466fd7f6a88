"""Rows of a table, so small that each takes seconds."""

TINY = (
    "--scale", "toy", "--set", "training.steps=4", "--set", "training.threads=1",
    "--set", "data.max_pairs=300", "--set", "training.validate_lines=5", "--quiet",
    "--set", "search.extra_length=5", "--set", "training.warmup=4",
)  # fmt: skip
