"""For each task, a recipe to start from and the model sizes for small and large corpora.

The more pairs a corpus has, the larger the model: a large model overfits a small corpus.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from transduce.errors import InputError
from transduce.recipes import open as translating
from transduce.recipes.treebanks import GUM_TAGS, PARSER, SMALL, TINY
from transduce.settings import Architecture, Data, Recipe
from transduce.settings.recipe import with_changes

ALL = 10**18  # `up_to` of a size without an upper limit
PASSES = 30  # number of passes over a parallel text


@final
@dataclass(frozen=True)
class ModelSize:
    """The architecture, vocabulary and training length for corpora of at most `up_to` pairs."""

    up_to: int  # the most pairs of a corpus that this size is for; 0: only for few minutes
    architecture: Architecture
    symbols: int  # largest vocabulary size
    tokens: int  # source tokens of an update, and as many target tokens
    passes: int  # number of passes over the corpus
    needs_gpu: bool = False  # without a GPU it would train for days


@final
@dataclass(frozen=True)
class SizeTable:
    """A task's starting recipe and its model sizes, smallest first."""

    start: Recipe
    sizes: tuple[ModelSize, ...]

    def list_sizes(self, pair_count: int, *, has_gpu: bool) -> list[ModelSize]:
        """Return the model sizes from the smallest to the one for `pair_count` pairs.

        `has_gpu` also allows sizes that need a GPU.
        """
        allowed = [size for size in self.sizes if has_gpu or not size.needs_gpu]
        too_small = [size for size in allowed[:-1] if pair_count > size.up_to]
        return allowed[: len(too_small) + 1]


TRANSLATION = SizeTable(
    Recipe(name="fitted"),
    (
        ModelSize(0, replace(translating.TINY, layers=2, dropout=0.1), 8_000, 4_096, PASSES),
        ModelSize(100_000, translating.TINY, 8_000, 4_096, PASSES),
        ModelSize(1_000_000, translating.SMALL, 10_000, 8_192, PASSES),
        ModelSize(ALL, Architecture(), 37_000, 25_000, 12, needs_gpu=True),
    ),
)
PARSING = SizeTable(
    PARSER,
    (
        ModelSize(5_000, replace(TINY, dropout=0.2), 8_000, 1_024, 20),
        ModelSize(ALL, replace(SMALL, dropout=0.2, attention_dropout=0.1), 10_000, 1_024, 20),
    ),
)
TAGGING = SizeTable(
    GUM_TAGS,
    (ModelSize(30_000, TINY, 8_000, 1_024, 25), ModelSize(ALL, SMALL, 10_000, 1_024, 20)),
)
SIGNAL = SizeTable(
    with_changes(
        Recipe(name=""),
        {
            "data.task": "signal",
            "data.vocabulary_size": 258,  # 256 bytes, BEGIN and END
            "data.max_characters": 100_000,
            "data.max_length_ratio": 100_000.0,
            "data.drop_identical": False,
            "data.drop_duplicates": False,
            "training.learning_rate_factor": 0.5,
            "training.label_smoothing": 0.0,  # outputs may be sampled; smoothing would add noise
        },
    ),
    # A model with post-norm, larger updates and a higher learning rate did not learn to read
    # pictures in 600 updates.
    (ModelSize(ALL, replace(TINY, layers=2, norm="pre", tie_embeddings="all"), 258, 1_024, 100),),
)
SIZE_TABLES: Mapping[str, SizeTable] = {
    "translation": TRANSLATION,
    "parsing": PARSING,
    "tagging": TAGGING,
    "signal": SIGNAL,
}


def find_size_table(data: Data) -> SizeTable:
    """Return the base recipe and model sizes of the task `data.task`; InputError if none."""
    found = SIZE_TABLES.get(data.task)
    if found is None:
        raise InputError(
            f"a corpus for {data.task} does not say how to train",
            "name a recipe beside the corpus: the one that it was prepared with",
        )
    return found
