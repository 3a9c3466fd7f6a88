"""Recipes of the paper's Tables 2, 3 and 4.

For Table 3, the paper scores English to German on newstest2013, by beam search and without
averaging. It scores the runs of Table 2 on newstest2014.

The rows with another layer of Table 1 in place of self-attention are our addition to Table 2. They
train on the same data. Their number of steps is chosen so that their matrix products take as many
operations as base's training.

The paper tuned dropout and learning rate of Table 4's parsers on section 22 of the treebank and
does not print them; the recipes have the values of its published code, tensor2tensor. The limits on
the data, the separate vocabularies and the search's batch size are ours. Other settings are the
paper's, or base's where the paper states none. The Penn Treebank needs a licence;
`transduce train table4/wsj --trees FOLDER` reads a copy.
"""

from collections.abc import Mapping
from dataclasses import replace

from transduce.settings import Architecture, Data, Recipe, Search, Training
from transduce.settings.counts import TextSize, count_training_operations
from transduce.settings.recipe import Value, with_changes

SCORED = "(newstest2013, nothing averaged)"
LENGTH = 25  # pieces per sentence, assumed when operations are estimated before training
SAME_COST = (
    "the paper compares other layers by Table 1 alone; here they train until base's cost is spent"
)
FOR_FRENCH = (
    "for English to French section 5.1 has 32,000 word-pieces, "
    "and section 6.1 dropout 0.1 for the big model too"
)
BECAUSE = (
    "section 6.3 has 4 layers of 1024 and this search; it prints neither dropout nor learning "
    "rate, these are those of tensor2tensor's {preset}; brackets are no words, so each side has a "
    "vocabulary of its own, and {symbols:,} symbols are the source's"
)

# --- Table 3: variations of the base model; each row changes settings of base ---------------------

BASE = Recipe(name="table3/base", about=f"the base model {SCORED}")


def _vary_base(
    name: str, about: str, training: Training = BASE.training, **architecture: Value
) -> Recipe:
    """Build the recipe of a row of Table 3: base with the settings of some columns changed."""
    changes = {f"architecture.{column}": value for column, value in architecture.items()}
    row = replace(BASE, name=f"table3/{name}", about=f"{about} {SCORED}", training=training)
    return with_changes(row, changes)


TABLE_3: Mapping[str, Recipe] = {
    recipe.name.removeprefix("table3/"): recipe
    for recipe in (
        BASE,
        _vary_base("A-h1", "one head, as wide as all eight", heads=1, d_k=512, d_v=512),
        _vary_base("A-h4", "4 heads at constant computation", heads=4, d_k=128, d_v=128),
        _vary_base("A-h16", "16 heads at constant computation", heads=16, d_k=32, d_v=32),
        _vary_base("A-h32", "32 heads at constant computation", heads=32, d_k=16, d_v=16),
        _vary_base("B-dk16", "keys of 16 numbers", d_k=16),
        _vary_base("B-dk32", "keys of 32 numbers", d_k=32),
        _vary_base("C-N2", "2 layers", layers=2),
        _vary_base("C-N4", "4 layers", layers=4),
        _vary_base("C-N8", "8 layers", layers=8),
        _vary_base("C-d256", "a narrower model", d_model=256, d_k=32, d_v=32),
        _vary_base("C-d1024", "a wider model", d_model=1024, d_k=128, d_v=128),
        _vary_base("C-ff1024", "a narrower feed-forward network", d_ff=1024),
        _vary_base("C-ff4096", "a wider feed-forward network", d_ff=4096),
        _vary_base("D-drop0.0", "no dropout", dropout=0.0),
        _vary_base("D-drop0.2", "more dropout", dropout=0.2),
        _vary_base("D-ls0.0", "no label smoothing", Training(label_smoothing=0.0)),
        _vary_base("D-ls0.2", "more label smoothing", Training(label_smoothing=0.2)),
        _vary_base("E-learned", "learned positions in place of sinusoids", positions="learned"),
        _vary_base(
            "big",
            "the big model",
            # 600 steps are 10 minutes at 1.0 s a step
            Training(steps=300_000, snapshot_every=600, average_last=20),
            d_model=1024,
            d_ff=4096,
            heads=16,
            dropout=0.3,
        ),
    )
}


# --- Table 2: the paper's four runs, and runs with other layers than self-attention ---------------


def _build_german(row: str, averaged: int) -> Recipe:
    """Build the English-German run of Table 2 from a row of Table 3."""
    about = f"the {row} model, English to German, newstest2014, the last {averaged} averaged"
    return replace(TABLE_3[row], name=f"table2/{row}-en-de", about=about)


def _build_french(german: Recipe) -> Recipe:
    """Build the English-French run of Table 2 from the English-German run."""
    return replace(
        german,
        name=german.name.replace("en-de", "en-fr"),
        about=german.about.replace("German", "French"),
        architecture=replace(german.architecture, dropout=0.1),  # section 6.1: also for big
        data=replace(
            german.data,
            corpus="wmt14-en-fr",
            target_language="fr",
            vocabulary="word-piece",
            vocabulary_size=32_000,
        ),
        because=FOR_FRENCH,
    )


BASE_EN_DE = _build_german("base", 5)
BIG_EN_DE = _build_german("big", 20)
BASE_EN_FR = _build_french(BASE_EN_DE)
BIG_EN_FR = _build_french(BIG_EN_DE)

TABLE_2 = (BASE_EN_DE, BIG_EN_DE, BASE_EN_FR, BIG_EN_FR)


def match_training_cost(base: Recipe, recipe: Recipe) -> Recipe:
    """Return `recipe` with the number of steps that makes its training as costly as base's.

    A recipe whose layers are of the same kind as base's is returned unchanged.
    """
    if recipe.architecture.mixing == base.architecture.mixing:
        return recipe
    steps = round(base.training.steps * estimate_update_cost(base) / estimate_update_cost(recipe))
    return with_changes(recipe, {"training.steps": max(1, steps)})


def estimate_update_cost(recipe: Recipe) -> float:
    """Estimate the operations of one full update if every sentence has 25 pieces."""
    source, target = float(recipe.data.source_tokens), float(recipe.data.target_tokens)
    text = TextSize(source, target, source * LENGTH, target * LENGTH, target * LENGTH)
    return count_training_operations(recipe.architecture, recipe.data.vocabulary_size, text)


def _build_layer_row(base: Recipe, mixing: str) -> Recipe:
    """Build a recipe with `mixing` layers in place of self-attention, at base's training cost."""
    recipe = replace(
        with_changes(base, {"architecture.mixing": mixing}),
        name=base.name.replace("base", mixing),
        about=base.about.replace("the base model", f"base, {mixing} layers in attention's place"),
        because=" · ".join(filter(None, (base.because, SAME_COST))),
    )
    return match_training_cost(base, recipe)


LAYERS = tuple(
    _build_layer_row(base, mixing)
    for base in (BASE_EN_DE, BASE_EN_FR)
    for mixing in ("recurrent", "convolution", "separable")
)


# by language pair and name of the row, as in `reproduce table2`
TABLE_2_ROWS: Mapping[str, Mapping[str, Recipe]] = {
    pair: {
        one.name.removeprefix("table2/").removesuffix(f"-{pair}"): one
        for one in (*TABLE_2, *LAYERS)
        if one.name.endswith(pair)
    }
    for pair in ("en-de", "en-fr")
}


# --- Table 4: English constituency parsing    (section 6.3) ---------------------------------------

# The usual limits on characters and length ratio suit translations; trees are longer.
TREE_DATA = Data(
    task="parsing",
    target_language="trees",
    shared_vocabulary=False,
    max_length=512,  # a tree has about 2.5 symbols for each word
    max_characters=1_000_000,
    max_length_ratio=1_000.0,
    drop_duplicates=False,
)

WSJ = Recipe(
    name="table4/wsj",
    about="parsing, 40,000 sentences of the Wall Street Journal",
    architecture=Architecture(
        layers=4, d_model=1024, dropout=0.2, attention_dropout=0.2, tie_embeddings="target"
    ),
    data=replace(TREE_DATA, corpus="wsj", vocabulary_size=16_000),
    training=Training(learning_rate_factor=0.5, warmup=16_000),
    # a small batch, because 64 sentences at a beam of 21 take gigabytes
    search=Search(beam=21, alpha=0.3, extra_length=300, batch_size=16),
    because=BECAUSE.format(preset="transformer_parsing_base", symbols=16_000),
)
SEMI_SUPERVISED = replace(
    with_changes(
        WSJ,
        {
            "architecture.dropout": 0.1,
            "architecture.attention_dropout": 0.0,
            "data.corpus": "wsj-semi-supervised",
            "data.vocabulary_size": 32_000,
            "training.warmup": 4_000,
        },
    ),
    name="table4/semi-supervised",
    about="parsing, with 17 million sentences more, parsed by other programs",
    because=BECAUSE.format(preset="transformer_parsing_big", symbols=32_000),
)

TABLE_4 = (WSJ, SEMI_SUPERVISED)
