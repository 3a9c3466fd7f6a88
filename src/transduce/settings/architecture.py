"""Settings of the model, with a field for each of the columns N to P_drop of Table 3."""

from dataclasses import dataclass
from typing import final

from transduce.settings.fields import (
    from_paper,
    our_choice,
    require,
    require_at_most,
    require_one_of,
    require_positive,
    require_probability,
    require_types,
)

POSITIONS = ("sinusoidal", "learned", "tensor2tensor")
TIES = ("all", "target", "none")
NORMS = ("post", "pre")
ACTIVATIONS = ("relu", "swish")
INITIALISATIONS = ("by-depth", "glorot")
COMPATIBILITIES = ("scaled-dot", "dot", "bilinear", "additive")
MIXINGS = ("self-attention", "recurrent", "convolution", "dilated", "separable")


@final
@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Settings of a Transformer, such as layers, widths, heads and dropout    (section 3)"""

    layers: int = from_paper(6, "3.1", "N = 6 identical layers in each stack")
    encoder_layers: int = from_paper(
        0, "3.1", "layers of the encoder alone, for stacks of unequal depth; 0: N, as in the paper"
    )
    decoder_layers: int = from_paper(
        0, "3.1", "layers of the decoder alone, for stacks of unequal depth; 0: N, as in the paper"
    )
    d_model: int = from_paper(512, "3.1", "width of embeddings and of the outputs of sub-layers")
    d_ff: int = from_paper(2048, "3.3", "width of the feed-forward network's inner layer")
    heads: int = from_paper(8, "3.2.2", "h = 8 heads in parallel")
    d_k: int = from_paper(
        64, "3.2.2", "width of a head's queries and keys; it need not be d_model / h"
    )
    d_v: int = from_paper(64, "3.2.2", "width of a head's values; it need not be d_model / h")
    dropout: float = from_paper(
        0.1, "5.4", "P_drop = 0.1 on outputs of sub-layers and on embeddings plus positions"
    )
    attention_dropout: float = from_paper(
        0.0,
        "5.4",
        "dropout on attention weights, which 6.3 mentions for parsing; 5.4 announces three kinds "
        "of regularisation and lists two, without it",
    )
    feed_forward_dropout: float = from_paper(
        0.0, "5.4", "dropout inside the feed-forward network, which the paper does not mention"
    )
    positions: str = from_paper(
        "sinusoidal",
        "3.5",
        "positional encodings are sines and cosines, interleaved; tensor2tensor: all sines first, "
        "as in the authors' code and in Marian",
    )
    max_positions: int = our_choice(
        1024, "number of learned positional vectors; sinusoids have no limit"
    )
    tie_embeddings: str = from_paper(
        "all", "3.4", "both embeddings and the projection before the softmax share a matrix"
    )
    encoder_neighbourhood: int = from_paper(
        0, "4", "r of restricted self-attention, which the paper proposes and does not use; 0: off"
    )
    decoder_neighbourhood: int = from_paper(
        0, "4", "r of restricted self-attention in the decoder, over past positions; 0: off"
    )
    neighbourhood_row: int = our_choice(
        0, "positions of a picture's row: a neighbourhood is r rows by r columns; 0: r in sequence"
    )
    norm: str = from_paper(
        "post", "3.1", "LayerNorm(x + Sublayer(x)): the norm is after the residual sum"
    )
    mixing: str = from_paper(
        "self-attention", "4", "the layer of Table 1 that connects the positions of a sentence"
    )
    kernel_size: int = our_choice(
        3, "k, the width of a convolution's kernel; 3 reaches one position on each side"
    )

    activation: str = from_paper(
        "relu", "3.3", "max(0, x) between the two linear maps; swish is x times its sigmoid"
    )
    attention_biases: bool = from_paper(
        False, "3.2.2", "the projections of attention are matrices, without biases"
    )
    output_bias: bool = from_paper(
        False, "3.4", "the map before the softmax is the embedding matrix, without a bias"
    )
    norm_epsilon: float = our_choice(
        1e-6, "added to the variance in layer normalisation, as in tensor2tensor"
    )
    compatibility: str = from_paper(
        "scaled-dot", "3.2.1", "a query and a key are compared by their product divided by √d_k"
    )
    initialisation: str = our_choice(
        "by-depth",
        "Glorot's rule, and the last matrix of each sub-layer is divided by √(sub-layers of its "
        "stack); glorot leaves that out, as tensor2tensor does, and learns later",
    )

    def __post_init__(self) -> None:
        require_types(self)
        require_positive(self, "layers", "d_model", "d_ff", "heads", "d_k", "d_v", "max_positions")
        require_at_most(self, 65_536, "d_model", "d_ff", "d_k", "d_v", "max_positions")
        require_at_most(self, 1_000, "layers", "encoder_layers", "decoder_layers", "heads")
        for name in ("encoder_layers", "decoder_layers", "neighbourhood_row"):
            value = getattr(self, name)
            require(value >= 0, f"architecture.{name} must be 0 or more, not {value}")
        require_probability(self, "dropout", "attention_dropout", "feed_forward_dropout")
        # Fast dropout draws 16 random bits per value, too few for a probability close to 1.
        require_at_most(self, 0.99, "dropout", "attention_dropout", "feed_forward_dropout")
        require_one_of(self, "positions", POSITIONS)
        require_one_of(self, "tie_embeddings", TIES)
        require_one_of(self, "norm", NORMS)
        require_one_of(self, "mixing", MIXINGS)
        require_one_of(self, "activation", ACTIVATIONS)
        require_one_of(self, "compatibility", COMPATIBILITIES)
        require_one_of(self, "initialisation", INITIALISATIONS)
        require_positive(self, "norm_epsilon")
        require_at_most(self, 1, "norm_epsilon")
        require(
            0 < self.kernel_size <= 1_001 and self.kernel_size % 2 == 1,
            f"architecture.kernel_size must be odd and at most 1,001, not {self.kernel_size}",
            "a convolution of k positions is centred: (k - 1) / 2 on each side",
        )
        require(
            self.d_model % 2 == 0,
            f"architecture.d_model must be even, not {self.d_model}",
            "positions come in pairs of a sine and a cosine (section 3.5)",
        )
        require_at_most(self, 1_000_001, "encoder_neighbourhood", "decoder_neighbourhood")
        neighbourhood = self.encoder_neighbourhood or self.decoder_neighbourhood
        row = self.neighbourhood_row
        require_at_most(self, 1_000_000, "neighbourhood_row")
        require(
            row == 0 or neighbourhood > 0,
            f"architecture.neighbourhood_row is {row} without a neighbourhood of rows",
            "it goes with architecture.encoder_neighbourhood or decoder_neighbourhood; 0: no rows",
        )
        for name in ("encoder_neighbourhood", "decoder_neighbourhood"):
            r = getattr(self, name)
            require(
                r == 0 or (r > 0 and r % 2 == 1),
                f"architecture.{name} must be {'odd' if r > 0 else 'odd and positive'}, not {r}",
                "a neighbourhood of r positions is centred: |i - j| <= (r - 1) / 2; 0 is no limit",
            )
            require(
                r == 0 or self.mixing == "self-attention",
                f"architecture.{name} restricts self-attention, but architecture.mixing is "
                f"{self.mixing!r}",
                "leave it at 0; architecture.kernel_size is the width of convolutions",
            )

    @property
    def encoder_depth(self) -> int:
        """How many layers the encoder has: `encoder_layers`, or `layers` if that is 0."""
        return self.encoder_layers or self.layers

    @property
    def decoder_depth(self) -> int:
        """How many layers the decoder has: `decoder_layers`, or `layers` if that is 0."""
        return self.decoder_layers or self.layers
