"""Count a model's parameters by formula, without building it    (section 3, Table 3)

With one tied matrix, no biases in projections and V symbols, base has 44,101,632 + 512 V
parameters. V = 37,000 gives 63,045,632 where Table 3 prints 65 million; every printed count except
that of the big model follows from any V between 41,004 and 41,208. Differences between rows do not
depend on V.
"""

from transduce.recipes.counts import (
    count_decoder_layer,
    count_embeddings,
    count_encoder_layer,
    count_final_norm,
    count_positions,
)
from transduce.settings import Architecture, Recipe


def count_recipe_parameters(recipe: Recipe) -> int:
    """Count the parameters of a recipe's model if each side has `data.vocabulary_size` symbols."""
    symbols = recipe.data.vocabulary_size
    return count_parameters(recipe.architecture, symbols, symbols)


def count_parameters(a: Architecture, source_symbols: int, target_symbols: int) -> int:
    """Count the parameters of a model with vocabularies of the given sizes."""
    layers = (count_encoder_layer(a) + count_decoder_layer(a)) * a.layers
    rest = count_final_norm(a) * 2 + count_positions(a)
    return (layers + rest + count_embeddings(a, source_symbols, target_symbols)).parameters
