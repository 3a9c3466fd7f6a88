"""Recipes of Table 4: English constituency parsing    (section 6.3)

The paper tuned dropout and learning rate on section 22 of the treebank and does not print them;
these are the values of its published code, tensor2tensor. Other settings are the paper's, or base's
where the paper states none. Only the limits on the data and the search's batch size are ours.
The Penn Treebank needs a licence; `transduce train table4/wsj --trees FOLDER` reads a copy.
"""

from dataclasses import replace

from transduce.settings import Architecture, Data, Recipe, Search, Training
from transduce.settings.recipe import Value, with_changes

BECAUSE = (
    "section 6.3 has 4 layers of 1024 and this search; it prints neither dropout nor learning "
    "rate, these are those of tensor2tensor's {preset}; brackets are no words, so each side has a "
    "vocabulary of its own, and {symbols:,} symbols are the source's"
)
# The usual limits on characters and length ratio suit translations; trees are longer.
TREE_DATA: dict[str, Value] = {
    "data.task": "parsing",
    "data.target_language": "trees",
    "data.shared_vocabulary": False,
    "data.max_length": 512,  # a tree has about 2.5 symbols for each word
    "data.max_characters": 1_000_000,
    "data.max_length_ratio": 1_000.0,
    "data.drop_duplicates": False,
}

WSJ = replace(
    with_changes(
        Recipe(
            name="",
            architecture=Architecture(
                layers=4, d_model=1024, dropout=0.2, attention_dropout=0.2, tie_embeddings="target"
            ),
            data=Data(corpus="wsj", vocabulary_size=16_000, shared_vocabulary=False),
            training=Training(learning_rate_factor=0.5, warmup=16_000),
            # a small batch, because 64 sentences at a beam of 21 take gigabytes
            search=Search(beam=21, alpha=0.3, extra_length=300, batch_size=16),
        ),
        TREE_DATA,
    ),
    name="table4/wsj",
    about="parsing, 40,000 sentences of the Wall Street Journal",
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
