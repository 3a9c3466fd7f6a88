"""The way around a sub-layer, and where the norm stands    (section 3.1)

The paper normalises after the sum. Many later systems normalise before the sub-layer and once more
at the top of each stack: another model, here for comparison only.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.dropout import dropout
from transduce.settings import Architecture

NORM_EPSILON = 1e-6


@final
class PostNorm(nn.Module):
    """LayerNorm(x + Dropout(Sublayer(x))): the norm stands after the sum    (section 3.1)"""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.norm = norm(sizes)
        self.dropout = sizes.dropout

    def forward(
        self, x: Float[Tensor, "T d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "T d_model"]:
        """What the sub-layer says, joined to its input."""
        return self.norm(x + dropout(sublayer(x), self.dropout, training=self.training))

    if TYPE_CHECKING:
        __call__ = forward


@final
class PreNorm(nn.Module):
    """x + Dropout(Sublayer(LayerNorm(x))): pre-norm, not the paper's."""

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.norm = norm(sizes)
        self.dropout = sizes.dropout

    def forward(
        self, x: Float[Tensor, "T d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "T d_model"]:
        """The same, the norm before the sub-layer."""
        return x + dropout(sublayer(self.norm(x)), self.dropout, training=self.training)

    if TYPE_CHECKING:
        __call__ = forward


def around(sizes: Architecture) -> PostNorm | PreNorm:
    """The way around a sub-layer that a recipe asks for."""
    return PostNorm(sizes) if sizes.norm == "post" else PreNorm(sizes)


def top(sizes: Architecture) -> nn.Module:
    """What stands at the top of a stack: nothing in the paper; pre-norm has one more norm there."""
    return nn.Identity() if sizes.norm == "post" else norm(sizes)


def norm(sizes: Architecture) -> nn.LayerNorm:
    """One LayerNorm."""
    return nn.LayerNorm(sizes.d_model, eps=NORM_EPSILON)
