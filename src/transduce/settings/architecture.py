"""Settings of the model: every column of Table 3 is a field of its own."""

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
)

POSITIONS = ("sinusoidal", "learned")
TIES = ("all", "target", "none")
NORMS = ("post", "pre")
MIXINGS = ("self-attention", "recurrent", "convolution", "dilated", "separable")


@final
@dataclass(frozen=True, kw_only=True)
class Architecture:
    """Sizes and shape of one Transformer    (section 3, Table 3)"""

    layers: int = from_paper(6, "3.1", "N = 6 identical layers in each stack")
    d_model: int = from_paper(512, "3.1", "width of embeddings and sub-layer outputs")
    d_ff: int = from_paper(2048, "3.3", "the inner layer of the feed-forward network is 2048 wide")
    heads: int = from_paper(8, "3.2.2", "h = 8 heads in parallel")
    d_k: int = from_paper(
        64, "3.2.2", "queries and keys of a head are 64 wide, free of d_model / h"
    )
    d_v: int = from_paper(64, "3.2.2", "values of a head are 64 wide, free of d_model / h")
    dropout: float = from_paper(
        0.1, "5.4", "P_drop = 0.1 on sub-layer outputs and on embedding sums"
    )
    attention_dropout: float = from_paper(0.0, "5.4", "no dropout is named on attention weights")
    feed_forward_dropout: float = from_paper(
        0.0, "5.4", "no dropout is named inside the feed-forward network"
    )
    positions: str = from_paper("sinusoidal", "3.5", "sines and cosines, interleaved, are added")
    max_positions: int = our_choice(
        1024, "number of learned position vectors; sinusoids have no limit"
    )
    tie_embeddings: str = from_paper(
        "all", "3.4", "one matrix: both embeddings and the map before the softmax"
    )
    encoder_neighbourhood: int = from_paper(
        0, "4", "r of section 4, proposed and not used; 0 is no limit"
    )
    decoder_neighbourhood: int = from_paper(0, "4", "the same for the decoder, past positions only")
    norm: str = from_paper("post", "3.1", "LayerNorm(x + Sublayer(x)): after the sum, not before")
    mixing: str = from_paper("self-attention", "4", "or another layer type of Table 1")
    kernel_size: int = our_choice(
        3, "k, the width of convolutions; 3 reaches one position each way"
    )

    def __post_init__(self) -> None:
        require_positive(self, "layers", "d_model", "d_ff", "heads", "d_k", "d_v", "max_positions")
        require_at_most(self, 65_536, "d_model", "d_ff", "d_k", "d_v", "max_positions")
        require_at_most(self, 1_000, "layers", "heads")
        require_probability(self, "dropout", "attention_dropout", "feed_forward_dropout")
        require_one_of(self, "positions", POSITIONS)
        require_one_of(self, "tie_embeddings", TIES)
        require_one_of(self, "norm", NORMS)
        require_one_of(self, "mixing", MIXINGS)
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
        for name in ("encoder_neighbourhood", "decoder_neighbourhood"):
            r = getattr(self, name)
            require(
                r == 0 or (r > 0 and r % 2 == 1),
                f"architecture.{name} must be odd, not {r}",
                "a neighbourhood of r positions is centred: |i - j| <= (r - 1) / 2; 0 is no limit",
            )
            require(
                r == 0 or self.mixing == "self-attention",
                f"architecture.{name} restricts self-attention, but architecture.mixing is "
                f"{self.mixing!r}",
                "leave it at 0; architecture.kernel_size is the width of convolutions",
            )
