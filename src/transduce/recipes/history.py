"""Presets of other systems, for comparison: they are often mistaken for the paper's model.

The values are from the source code of these systems; `because` names differences that no setting
can express. As in these systems, initial weights follow Glorot's rule, without the division of our
default `by-depth`. All presets use our batches without padding and our exact resume.
"""

from dataclasses import replace

from transduce.recipes.tables import BASE_EN_DE, BIG_EN_DE
from transduce.settings import Recipe
from transduce.settings.recipe import Value, with_changes

T2T_DIFFERS = (
    "as the published code of the authors (tensor2tensor); there positions are [sin | cos] in "
    "halves, batches 4,096 tokens of the longer side on each GPU, padding counted, and the data "
    "News Commentary v13"
)
FAIRSEQ_DIFFERS = (
    "as fairseq's recipes for WMT English-German; there News Commentary is v12, one training pair "
    "in a hundred is the development set, the learning rate is given as a peak, "
    "positions are [sin | cos] in halves, the output limit is 200 pieces whatever the source, "
    "initial weights of Q, K and V are divided by √2, and "
    "hypotheses are scored by log P / |Y|^0.6, which is another formula with the paper's number"
)


def _derive_preset(start: Recipe, name: str, about: str, because: str, **changes: Value) -> Recipe:
    """Derive a named preset from a recipe; the key `search__beam` changes search.beam."""
    named = replace(start, name=f"history/{name}", about=about, because=because)
    return with_changes(named, {path.replace("__", "."): v for path, v in changes.items()})


T2T_V1 = _derive_preset(
    BASE_EN_DE,
    "t2t-v1",
    "tensor2tensor transformer_base_v1: the preset that is the paper's model",
    T2T_DIFFERS,
    architecture__initialisation="glorot",
    training__smoothing_form="t2t",
    search__extra_length=100,
)
T2T_V2 = _derive_preset(
    T2T_V1,
    "t2t-v2",
    "tensor2tensor transformer_base_v2: pre-norm, inner dropouts, twice the rate",
    T2T_DIFFERS,
    architecture__norm="pre",
    architecture__attention_dropout=0.1,
    architecture__feed_forward_dropout=0.1,
    training__warmup=8_000,
    training__learning_rate_factor=2.0,
)
T2T_V3 = _derive_preset(
    T2T_V2,
    "t2t-v3",
    "tensor2tensor transformer_base since v3: v2 with another Adam",
    T2T_DIFFERS,
    training__beta2=0.997,
)


def _derive_fairseq_preset(start: Recipe, name: str, peak: float) -> Recipe:
    """Derive fairseq's preset; express its peak learning rate as a factor of equation 3's peak."""
    paper_peak = (start.architecture.d_model * start.training.warmup) ** -0.5
    return _derive_preset(
        start,
        f"fairseq-{name}",
        f"fairseq, English to German, {name}: a peak rate of {peak:g}",
        FAIRSEQ_DIFFERS,
        architecture__initialisation="glorot",
        training__learning_rate_factor=peak / paper_peak,
        training__epsilon=1e-8,
        training__smoothing_form="t2t",
    )


FAIRSEQ_BASE = _derive_fairseq_preset(BASE_EN_DE, "base", 7e-4)
FAIRSEQ_BIG = _derive_fairseq_preset(BIG_EN_DE, "big", 5e-4)

MARIAN_DIFFERS = (
    "as Marian's alias for the base model, which the public OPUS-MT models were trained with; "
    "there positions are [sin | cos] in halves, which an imported model's weights are permuted "
    "for, the learning rate is given as a peak, weights are averaged exponentially, and batches "
    "fill memory"
)
MARIAN = _derive_preset(
    BASE_EN_DE,
    "marian",
    "Marian's base model as in OPUS-MT: biases, swish, SentencePiece; for imported models",
    MARIAN_DIFFERS,
    architecture__initialisation="glorot",
    architecture__activation="swish",
    architecture__attention_biases=True,
    architecture__output_bias=True,
    architecture__norm_epsilon=1e-5,
    architecture__tie_embeddings="target",
    data__vocabulary="sentencepiece",
    data__shared_vocabulary=False,
    training__warmup=16_000,
    training__learning_rate_factor=3e-4 * (512 * 16_000) ** 0.5,
    search__beam=6,
    search__penalty="average",
)

HISTORY = (T2T_V1, T2T_V2, T2T_V3, FAIRSEQ_BASE, FAIRSEQ_BIG, MARIAN)
