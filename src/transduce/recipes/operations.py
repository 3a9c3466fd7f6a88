"""Count a model's arithmetic operations by formula    (section 6.1, Table 2: training cost)

A multiplication and its addition are two operations. Only matrix products are counted: those of
the projections, the feed-forward networks and the output projection, and attention's products for
every pair of positions, masked or not. A backward pass takes twice as many as a forward pass.
"""

from dataclasses import dataclass
from typing import final

from transduce.settings import Architecture
from transduce.settings.counts import count_decoder_layer, count_embeddings, count_encoder_layer


@final
@dataclass(frozen=True)
class TextSize:
    """Sums of a text's sentence lengths and of products of lengths, which give operation counts.

    The sums are over all sentence pairs; a pair has n source and m target tokens.
    """

    source: float  # Σ n, the number of source tokens
    target: float  # Σ m, the number of target tokens
    source_pairs: float  # Σ n², the attention scores of the encoder
    target_pairs: float  # Σ m², the attention scores of the decoder
    cross_pairs: float  # Σ n·m, the attention scores of cross-attention


def count_forward_operations(a: Architecture, symbols: int, text: TextSize) -> float:
    """Count the operations of one forward pass over a text, with a vocabulary of `symbols`."""
    encoder = count_encoder_layer(a) * a.encoder_depth
    decoder = count_decoder_layer(a) * a.decoder_depth
    layers = text.source * (encoder.products + decoder.memory_products)
    layers += text.source_pairs * encoder.pair_products
    layers += text.target * decoder.products + text.target_pairs * decoder.pair_products
    layers += text.cross_pairs * decoder.memory_pair_products
    logits = text.target * count_embeddings(a, symbols, symbols).products
    return 2 * (layers + logits)


def count_training_operations(a: Architecture, symbols: int, text: TextSize) -> float:
    """Count the operations of one forward and one backward pass over a text."""
    return 3 * count_forward_operations(a, symbols, text)
