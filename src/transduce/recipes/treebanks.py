"""Recipes for parsing CRAFT and GUM, and for tagging GUM and SciREX, sized for two CPU cores.

A model of this size does not learn to count words (docs/records/results.md), so the
source has one symbol for each word, and trees number their words.
"""

from dataclasses import replace

from transduce.recipes import open as translating
from transduce.recipes.tables import TREE_DATA
from transduce.settings import Data, Recipe, Search, Training
from transduce.settings.recipe import with_changes

SMALL = replace(translating.SMALL, dropout=0.1, tie_embeddings="target")
TINY = replace(SMALL, d_model=128, d_ff=512, d_k=32, d_v=32)
SIZED = "a model, a vocabulary and updates of a size that fits the treebank and a CPU"

PARSER = Recipe(
    name="",
    architecture=SMALL,
    data=replace(
        TREE_DATA,
        corpus="craft",
        vocabulary="word",
        vocabulary_size=10_000,
        source_tokens=1_024,
        target_tokens=1_024,
        # The longest tree of CRAFT: 376 words and 566 brackets, 943 symbols with END.
        max_length=1_024,
        linearisation="numbered",
    ),
    training=Training(
        steps=20_000,
        warmup=2_000,
        snapshot_every=200,
        average_last=10,
        validate_every=1_000,
        validate_lines=200,
    ),
    search=Search(beam=4, alpha=0.3, extra_length=300),
    because=SIZED,
)
CRAFT = replace(
    # With dropout 0.1 and no attention dropout, F1 stays below 79 (docs/records/results.md).
    with_changes(
        PARSER,
        {
            "architecture.dropout": 0.2,
            "architecture.attention_dropout": 0.1,
            "training.steps": 25_000,
        },
    ),
    name="craft",
    about="parsing, 19,000 trees of biomedical articles, made by people",
)
GUM = replace(
    with_changes(
        PARSER,
        {
            "data.corpus": "gum",
            "data.vocabulary_size": 8_000,
            "training.steps": 10_000,
        },
    ),
    name="gum",
    about="parsing, 10,000 trees of many genres, silver: output of a parser, projected",
)
GUM_TAGS = Recipe(
    name="gum-pos",
    about="part-of-speech tags of the trees of GUM; name the files that hold them",
    architecture=TINY,
    data=Data(
        task="tagging",
        corpus="gum-pos",
        target_language="tags",
        vocabulary="word",
        vocabulary_size=8_000,
        shared_vocabulary=False,
        source_tokens=1_024,
        target_tokens=1_024,
        max_characters=1_000_000,
        max_length_ratio=1_000.0,
        drop_duplicates=False,
        drop_identical=False,
    ),
    training=Training(
        steps=4_000,
        warmup=1_200,
        snapshot_every=100,
        average_last=10,
        validate_every=500,
        validate_lines=500,
    ),
    because=SIZED,
)
GUM_CHUNKS = replace(
    with_changes(GUM_TAGS, {"data.label_scheme": "bio", "data.corpus": "gum-chunks"}),
    name="gum-chunks",
    about="base noun phrases of the trees of GUM as labels B-NP, I-NP, O; name their files",
)
SCIREX = replace(
    with_changes(
        GUM_TAGS,
        {
            "data.corpus": "scirex",
            "data.vocabulary_size": 10_000,
            "training.steps": 20_000,
            "training.warmup": 2_000,
            "training.snapshot_every": 200,
            "training.validate_every": 1_000,
        },
    ),
    architecture=replace(SMALL, dropout=0.2),
    name="scirex",
    about="labels Task, Method, Metric, Material, O of scientific text, as in SciREX; name files",
)

TREEBANKS = (CRAFT, GUM, GUM_TAGS, GUM_CHUNKS, SCIREX)
