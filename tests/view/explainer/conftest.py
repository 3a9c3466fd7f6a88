"""A run of eight updates, trained once for all tests of the explainer."""

import pytest

import transduce

LINES = ["the dog runs", "a cat sees the dog", "the cat sleeps", "a dog sees a cat", "we run"] * 8


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory):
    """A run with a snapshot after each second update, the last two of which are averaged."""
    folder = tmp_path_factory.mktemp("explained") / "run"
    settings = {
        "training.steps": 8,
        "training.warmup": 4,
        "training.snapshot_every": 2,
        "training.average_last": 2,
        "training.threads": 1,
        "data.vocabulary_size": 270,
        "data.drop_duplicates": False,
        "architecture.layers": 1,
        "architecture.d_model": 16,
        "architecture.d_ff": 32,
        "architecture.heads": 2,
        "architecture.d_k": 8,
        "architecture.d_v": 8,
    }
    pairs = list(zip(LINES, [line.upper() for line in LINES], strict=True))
    transduce.train(folder, pairs, recipe="tiny", settings=settings, process_settings=False)
    return folder
