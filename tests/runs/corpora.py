"""A small prepared corpus, and a recipe for it."""

from pathlib import Path

from transduce.recipes import by_name
from transduce.runs.prepared_corpus import PreparedCorpus, prepare_corpus
from transduce.runs.texts import GeneratedCorpus
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

STEPS = 40
TOY: Recipe = with_changes(
    by_name("toy-reverse"),
    {
        "architecture.d_model": 32,
        "architecture.d_ff": 64,
        "architecture.heads": 2,
        "architecture.d_k": 16,
        "architecture.d_v": 16,
        "architecture.dropout": 0.1,
        "data.vocabulary_size": 258,
        "data.max_pairs": 120,
        "data.max_length": 100,
        "data.source_tokens": 256,
        "data.target_tokens": 256,
        "training.steps": STEPS,
        "training.warmup": 20,
        "training.learning_rate_factor": 1.0,
        "training.snapshot_every": 10,
        "training.average_last": 2,
        "training.validate_every": 15,
        "training.validate_lines": 4,
        "training.micro_batch_tokens": 300,  # an update is two micro-batches
        "training.threads": 1,
        "search.beam": 1,
        "search.extra_length": 2,
    },
)


def prepared_toy(folder: Path, recipe: Recipe = TOY) -> PreparedCorpus:
    """Some 15 updates an epoch."""
    corpus = recipe.data.corpus
    train, dev = (
        GeneratedCorpus(corpus, "train", recipe.data.max_pairs),
        GeneratedCorpus(corpus, "dev", 8),
    )
    return prepare_corpus(folder, recipe.data, train, dev, lambda _what, _pairs: None)
