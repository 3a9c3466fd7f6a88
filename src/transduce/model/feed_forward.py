"""The position-wise feed-forward network    (section 3.3)"""

from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from transduce.model.dropout import dropout
from transduce.model.linear import Linear
from transduce.settings import Architecture

# T tokens of a batch, end to end · R rows, one per hypothesis


@final
class FeedForward(nn.Module):
    """The feed-forward network max(0, x W1 + b1) W2 + b2    (section 3.3, equation 2)

    By `architecture.activation` it may have swish, x · sigmoid(x), in place of max(0, x).
    """

    def __init__(self, sizes: Architecture) -> None:
        super().__init__()
        self.inner = Linear(sizes.d_model, sizes.d_ff, bias=True)
        self.dropout, self.is_swish = sizes.feed_forward_dropout, sizes.activation == "swish"
        follows_relu = not self.is_swish
        self.outer = Linear(sizes.d_ff, sizes.d_model, bias=True, follows_relu=follows_relu)

    def forward(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T d_model"]:
        """Compute max(0, x W1 + b1) W2 + b2 for every token    (equation 2)"""
        hidden = self.activate(x)
        return self.outer(dropout(hidden, self.dropout, training=self.training))

    def decode_step(
        self, x: Float[Tensor, "R d_model"], residual: Float[Tensor, "R d_model"]
    ) -> Float[Tensor, "R d_model"]:
        """Compute residual + max(0, x W1 + b1) W2 + b2 for R hypotheses, without dropout."""
        return self.outer.add(self.activate(x), residual)

    def activate(self, x: Float[Tensor, "R d_model"]) -> Float[Tensor, "R d_ff"]:
        """Compute max(0, x W1 + b1), or swish of x W1 + b1."""
        return functional.silu(self.inner(x)) if self.is_swish else self.inner.relu(x)

    def initialise(self, generator: torch.Generator) -> None:
        """Draw W1 and W2 by Glorot's rule and set the biases to 0."""
        self.inner.fill_glorot(generator)
        self.outer.fill_glorot(generator)

    @property
    def last_matrix(self) -> Tensor:
        """The second matrix W2, which `scale_by_depth` divides by √(number of sub-layers)."""
        return self.outer.weight

    if TYPE_CHECKING:
        __call__ = forward
