"""Recipes for runs of seconds and minutes: for the demo, for toy tasks, and for tests."""

from transduce.settings import Architecture, Data, Recipe, Training

DEMO = Recipe(
    name="demo",
    about="English to German on sentences of our own grammar, about 4 minutes on 2 cores",
    architecture=Architecture(layers=2, d_model=128, d_ff=512, heads=4, d_k=32, d_v=32),
    data=Data(corpus="phrasebook", vocabulary_size=1_500, source_tokens=2_048, target_tokens=2_048),
    training=Training(
        steps=2_000, warmup=400, snapshot_every=50, validate_every=500, validate_lines=200
    ),
    because="sized so that a visitor sees it learn in minutes, without a GPU",
)

LETTERS = 278  # vocabulary size: 2 special symbols, 256 bytes, 20 pieces (a letter with a blank)


def _build_toy(task: str, about: str) -> Recipe:
    """Build the recipe of a toy task, whose correct outputs are known, to check training."""
    return Recipe(
        name=f"toy-{task}",
        about=about,
        architecture=Architecture(
            layers=2, d_model=64, d_ff=256, heads=4, d_k=32, d_v=16, dropout=0.0
        ),
        data=Data(
            task=task,
            corpus=f"toy-{task}",
            vocabulary_size=LETTERS,
            source_tokens=1_024,
            target_tokens=1_024,
            drop_identical=False,
        ),
        training=Training(
            steps=2_000,
            warmup=300,
            learning_rate_factor=0.35,
            threads=1,
            snapshot_every=50,
            average_last=10,
            validate_every=500,
            validate_lines=200,
        ),
        because="a toy: small, with wide keys, so that one thread learns to point in two minutes",
    )


COPY = _build_toy("copy", "repeat the symbols")
REVERSE = _build_toy("reverse", "reverse the symbols")
SORT = _build_toy("sort", "sort the symbols")

TINY = Recipe(
    name="tiny",
    about="for tests: a model that trains in seconds and translates nothing",
    architecture=Architecture(layers=2, d_model=32, d_ff=64, heads=2, d_k=16, d_v=16),
    data=Data(corpus="phrasebook", vocabulary_size=300, source_tokens=512, target_tokens=512),
    training=Training(
        steps=20, warmup=10, snapshot_every=5, average_last=2, validate_every=10, validate_lines=10
    ),
    because="a test wants seconds",
)

SMALL = (DEMO, COPY, REVERSE, SORT, TINY)
