"""How many parameters a model has, as a formula: no model is made    (PAPER section 3, Table 3)

With one tied matrix, no biases in projections and V symbols, base has 44,101,632 + 512 V.
V = 37,000 gives 63,045,632 where Table 3 prints 65 million; every printed count but that of the
big model follows from any V between 41,004 and 41,208. Differences between rows need no V.
"""

from transduce.recipes import operations
from transduce.settings import Architecture, Recipe


def of_recipe(recipe: Recipe) -> int:
    """The count with as many symbols on each side as the recipe's vocabulary should have."""
    symbols = recipe.data.vocabulary_size
    return count(recipe.architecture, symbols, symbols)


def count(a: Architecture, source_symbols: int, target_symbols: int) -> int:
    """All weights that training changes."""
    sides, past = mixing(a, directions=2), mixing(a, directions=1)
    encoder_layer = sides + feed_forward(a) + 2 * normalisation(a)
    decoder_layer = past + attention(a) + feed_forward(a) + 3 * normalisation(a)
    stacks = a.layers * (encoder_layer + decoder_layer) + 2 * top(a)
    return stacks + positions(a) + embeddings(a, source_symbols, target_symbols)


def attention(a: Architecture) -> int:
    """h heads, each W^Q, W^K: d_model x d_k, W^V: d_model x d_v; W^O: h d_v x d_model    (3.2.2)"""
    return a.heads * a.d_model * (2 * a.d_k + 2 * a.d_v)


def mixing(a: Architecture, directions: int) -> int:
    """Self-attention, or the layer of Table 1 in its place    (section 4)

    A weight of a matrix is a product a place. The gates of an LSTM have two biases besides (torch
    keeps both).
    """
    biases = 2 * 4 * a.d_model if a.mixing == "recurrent" else 0
    return operations.mixing(a, directions) + biases


def feed_forward(a: Architecture) -> int:
    """W1, b1 and W2, b2 of max(0, x W1 + b1) W2 + b2    (section 3.3, equation 2)"""
    return 2 * a.d_model * a.d_ff + a.d_ff + a.d_model


def normalisation(a: Architecture) -> int:
    """Gain and bias of one LayerNorm; each sub-layer has one    (section 3.1)"""
    return 2 * a.d_model


def top(a: Architecture) -> int:
    """Nothing stands at the top of a stack in the paper; pre-norm needs a norm there."""
    return normalisation(a) if a.norm == "pre" else 0


def positions(a: Architecture) -> int:
    """Sinusoids have none; learned positions are a table of their own in each stack    (3.5)"""
    return 2 * a.max_positions * a.d_model if a.positions == "learned" else 0


def embeddings(a: Architecture, source_symbols: int, target_symbols: int) -> int:
    """Both embeddings and the map before the softmax, which has no bias    (section 3.4)"""
    matrices = {
        "all": target_symbols,  # one matrix for all three
        "target": source_symbols + target_symbols,  # target embedding and map share one
        "none": source_symbols + 2 * target_symbols,
    }
    return matrices[a.tie_embeddings] * a.d_model
