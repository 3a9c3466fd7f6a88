"""Residual connections with layer normalisation after or before the sub-layer    (section 3.1)

The paper normalises after the sum (post-norm). Many later systems normalise before the sub-layer
and once more at the end of each stack (pre-norm), which is another model, for comparison only.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.dropout import add_dropout
from transduce.model.layer_norm import LayerNorm
from transduce.settings import Architecture

# T tokens of a batch, end to end · R rows, one per hypothesis

NORM_EPSILON = Architecture().norm_epsilon  # ε of every model that was not imported

AddSublayer = Callable[[Tensor, Tensor], Tensor]  # (y, x) → x + Sublayer(y)


@final
class PostNorm(nn.Module):
    """Residual connection LayerNorm(x + Dropout(Sublayer(x))) of the paper    (section 3.1)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.norm = LayerNorm(sizes)
        self.dropout = sizes.dropout

    def forward(
        self, x: Float[Tensor, "T d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "T d_model"]:
        """Compute LayerNorm(x + Dropout(Sublayer(x)))."""
        return self.norm(add_dropout(x, sublayer(x), self.dropout, training=self.training))

    def decode_step(
        self, x: Float[Tensor, "R d_model"], add_sublayer: AddSublayer
    ) -> Float[Tensor, "R d_model"]:
        """Compute LayerNorm(x + Sublayer(x)); `add_sublayer(x, x)` returns the sum."""
        return self.norm(add_sublayer(x, x))

    if TYPE_CHECKING:
        __call__ = forward


@final
class PreNorm(nn.Module):
    """Residual connection x + Dropout(Sublayer(LayerNorm(x))), which is not in the paper."""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.norm = LayerNorm(sizes)
        self.dropout = sizes.dropout

    def forward(
        self, x: Float[Tensor, "T d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "T d_model"]:
        """Compute x + Dropout(Sublayer(LayerNorm(x)))."""
        return add_dropout(x, sublayer(self.norm(x)), self.dropout, training=self.training)

    def decode_step(
        self, x: Float[Tensor, "R d_model"], add_sublayer: AddSublayer
    ) -> Float[Tensor, "R d_model"]:
        """Compute x + Sublayer(LayerNorm(x)); `add_sublayer(LayerNorm(x), x)` returns the sum."""
        return add_sublayer(self.norm(x), x)

    if TYPE_CHECKING:
        __call__ = forward


def build_residual(sizes: Architecture) -> PostNorm | PreNorm:
    """Build the residual connection of a sub-layer: `PostNorm` or `PreNorm` by the recipe."""
    return PostNorm(sizes) if sizes.norm == "post" else PreNorm(sizes)


def build_final_norm(sizes: Architecture) -> nn.Module:
    """Build the norm at the end of a stack: a LayerNorm in pre-norm, the identity in post-norm."""
    return nn.Identity() if sizes.norm == "post" else LayerNorm(sizes)
