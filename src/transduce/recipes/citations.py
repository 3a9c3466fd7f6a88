"""Citations of the paper for the settings of all its runs except base for English to German.

The citations for base are in each field's metadata (`settings/fields.py`). This module has the
citations for the rows of Table 3 (with the big model), for English to French and for parsing. Each
is a section and a paraphrase of what it says. If the section is empty, the paper is silent and
the text is our reason. `PEERS` says how other systems differ from the paper, according to
their source code. T2T is tensor2tensor. Its preset v1 is the paper's model; later
`transformer_base` came to mean v3.
"""

from collections.abc import Mapping

from transduce.recipes.catalogue import difference, find_original_name
from transduce.recipes.tables import BASE, LAYERS, TABLE_3
from transduce.settings import Recipe
from transduce.settings.recipe import find_setting

Citation = tuple[str, str]  # section, and paraphrase or reason
Citations = Mapping[str, Citation]  # setting's path, such as training.steps -> citation

COLUMNS = {
    "architecture.layers": "N",
    "architecture.d_model": "d_model",
    "architecture.d_ff": "d_ff",
    "architecture.heads": "h",
    "architecture.d_k": "d_k",
    "architecture.d_v": "d_v",
    "architecture.dropout": "P_drop",
    "architecture.positions": "positions",
    "training.label_smoothing": "epsilon_ls",
}


# for each row of Table 3 and each setting in which it differs from base
ROWS: Mapping[str, Citations] = {
    name: {
        path: ("6.2", f"row {name} of Table 3: {COLUMNS[path]} = {value}")
        for path, _, value in difference(BASE, row)
        if path in COLUMNS
    }
    for name, row in TABLE_3.items()
}
BIG: Citations = {
    **ROWS["big"],
    "training.steps": ("5.2", "the big models were trained for 300,000 steps"),
    "training.snapshot_every": ("6.1", "10 minutes at 1.0 s a step, for averaging"),
    "training.average_last": ("6.1", "the last 20 snapshots of big models are averaged"),
}
FRENCH: Citations = {
    "data.corpus": ("5.1", "WMT 2014, about 36 million sentence pairs; its corpora hold 40.8"),
    "data.target_language": ("5.1", "the target language is French"),
    "data.vocabulary": ("5.1", "word-pieces for English to French"),
    "data.vocabulary_size": ("5.1", "32,000 word-pieces"),
    "data.shared_vocabulary": ("3.4", "embeddings that share a matrix need a shared vocabulary"),
}
BIG_FRENCH: Citations = {"architecture.dropout": ("6.1", "P_drop = 0.1 instead of 0.3")}

AS_BASE = "not stated for parsing, where all else is as for English to German"
TUNED = "chosen on section 22 and not printed; this value is tensor2tensor's"
PARSING: Citations = {
    "architecture.layers": ("6.3", "4 layers"),
    "architecture.d_model": ("6.3", "d_model = 1024"),
    "architecture.dropout": ("6.3", f"dropout, {TUNED}"),
    "architecture.attention_dropout": ("6.3", f"dropout, both attention and residual, {TUNED}"),
    "architecture.tie_embeddings": (
        "",
        "with two vocabularies only the target embedding can share the projection's matrix",
    ),
    "data.source_language": ("6.3", "the inputs are English sentences"),
    "data.target_language": ("6.3", "the outputs are constituency trees"),
    "data.vocabulary": ("6.3", AS_BASE),
    "data.shared_vocabulary": ("", "brackets are no words: each side has its own vocabulary"),
    "training.steps": ("6.3", AS_BASE),
    "training.learning_rate_factor": ("6.3", f"learning rate, {TUNED}"),
    "training.warmup": ("6.3", f"learning rate, {TUNED}"),
    "search.beam": ("6.3", "a beam of width 21"),
    "search.alpha": ("6.3", "length penalty alpha = 0.3"),
    "search.extra_length": ("6.3", "an output has at most input length + 300 symbols"),
}
WSJ: Citations = {
    "data.corpus": (
        "6.3",
        "the Wall Street Journal part of the Penn Treebank, about 40,000 sentences",
    ),
    "data.vocabulary_size": ("6.3", "16,000 symbols"),
}
SEMI_SUPERVISED: Citations = {
    "data.corpus": ("6.3", "with two larger corpora of about 17 million parsed sentences"),
    "data.vocabulary_size": ("6.3", "32,000 symbols"),
}

CITATIONS: Mapping[str, Citations] = {
    **{f"table3/{name}": cited for name, cited in ROWS.items()},
    **{one.name: FRENCH for one in LAYERS if one.data.target_language == "fr"},
    **dict.fromkeys(("table3/big", "table2/big-en-de", "history/fairseq-big"), BIG),
    "table2/base-en-fr": FRENCH,
    "table2/big-en-fr": {**BIG, **FRENCH, **BIG_FRENCH},
    "table4/wsj": {**PARSING, **WSJ},
    "table4/semi-supervised": {**PARSING, **SEMI_SUPERVISED},
}


def cite(recipe: Recipe, path: str) -> Citation:
    """Return (section, paraphrase) for a setting, or ("", our reason) if the paper is silent."""
    stated = find_setting(path)[1].metadata
    return CITATIONS.get(find_original_name(recipe), {}).get(
        path, (stated["section"], stated["says"])
    )


PEERS: Mapping[str, str] = {
    "architecture.layers": "6 in T2T's parsing presets, where section 6.3 has 4",
    "architecture.d_ff": "8,192 in T2T's big model for English to French",
    "architecture.tie_embeddings": "no matrix is shared in T2T's big model for English to French",
    "architecture.norm": "pre in T2T v2 and v3, OpenNMT-py, eole, Sockeye, Joey NMT's configs",
    "architecture.d_k": "tied to d_model / h in fairseq, Marian, Joey NMT, Sockeye",
    "architecture.d_v": "tied to d_model / h in fairseq, Marian, Joey NMT, Sockeye",
    "architecture.attention_dropout": "0.1 in T2T v2 and v3, OpenNMT-py, Sockeye; that of the "
    "residuals in Joey NMT",
    "architecture.feed_forward_dropout": "0.1 in T2T v2 and v3, Sockeye",
    "architecture.positions": "[sin | cos] in halves in T2T, fairseq, Marian, Sockeye",
    "architecture.initialisation": "glorot in T2T, Marian and fairseq, which also divides Q, K "
    "and V by √2",
    "data.corpus": "News Commentary v13 in T2T, v12 in fairseq, in place of v9",
    "data.source_tokens": "one budget for the longer side, padding counted, in all of them",
    "data.target_tokens": "one budget for the longer side, padding counted, in all of them",
    "training.warmup": "8,000 in T2T v2 and v3, 16,000 in Marian",
    "training.learning_rate_factor": "2 in T2T v2 and v3, OpenNMT-py; a peak rate in its place "
    "in fairseq "
    "(7e-4 and 5e-4; the paper's are 6.99e-4 and 4.94e-4), Marian (3e-4), Joey NMT (2e-4) and "
    "Sockeye (2e-4, falling on plateaus)",
    "training.beta2": "0.997 in T2T v3, 0.998 in OpenNMT-py and Marian's big, 0.999 in Sockeye",
    "training.epsilon": "1e-8 in fairseq, OpenNMT-py, Sockeye, Joey NMT",
    "training.smoothing_form": "over the V - 1 other symbols in T2T and fairseq, V - 2 in Joey NMT",
    "training.average_last": "the best in Joey NMT, a running mean in Marian and eole",
    "search.beam": "5 in fairseq, OpenNMT-py and eole, 12 in Marian",
    "search.alpha": "log P / |Y|^alpha in fairseq, Marian, OpenNMT-py; 1.0 in Joey NMT",
    "search.penalty": "log P / |Y| in fairseq, OpenNMT-py, eole, Sockeye",
    "search.extra_length": "100 in T2T; a limit of 200 in fairseq, 250 in OpenNMT-py; "
    "x 3 in Marian",
}
