"""Recipes of Table 2: the paper's four runs, and runs with other layers than self-attention.

All are scored on newstest2014. Rows with another layer of Table 1 in place of self-attention train
on the same data. Their number of steps is chosen so that their matrix products take as many
operations as base's training.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from transduce.recipes.operations import TextSize, count_training_operations
from transduce.recipes.table3 import TABLE_3
from transduce.settings import Recipe
from transduce.settings.recipe import with_changes

LENGTH = 25  # pieces per sentence, assumed when operations are estimated before training
SAME_COST = (
    "the paper compares other layers by Table 1 alone; here they train until base's cost is spent"
)
FOR_FRENCH = (
    "for English to French section 5.1 has 32,000 word-pieces, "
    "and section 6.1 dropout 0.1 for the big model too"
)


def _build_german(row: str, averaged: int) -> Recipe:
    """Build the English-German run of Table 2 from a row of Table 3."""
    about = f"the {row} model, English to German, newstest2014, the last {averaged} averaged"
    return replace(TABLE_3[row], name=f"table2/{row}-en-de", about=about)


def _build_french(german: Recipe, dropout: float) -> Recipe:
    """Build the English-French run of Table 2 from the English-German run."""
    return replace(
        german,
        name=german.name.replace("en-de", "en-fr"),
        about=german.about.replace("German", "French"),
        architecture=replace(german.architecture, dropout=dropout),
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
BASE_EN_FR = _build_french(BASE_EN_DE, dropout=0.1)
BIG_EN_FR = _build_french(BIG_EN_DE, dropout=0.1)  # section 6.1: dropout of 0.1 instead of 0.3

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


# the recipes by language pair and name of the row
ROWS: Mapping[str, Mapping[str, Recipe]] = MappingProxyType(
    {
        pair: {
            one.name.removeprefix("table2/").removesuffix(f"-{pair}"): one
            for one in (*TABLE_2, *LAYERS)
            if one.name.endswith(pair)
        }
        for pair in ("en-de", "en-fr")
    }
)
