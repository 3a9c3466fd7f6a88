"""Dropout with cheap random bits    (section 5.4)

torch draws one random number for every element, on one thread of a CPU. In this module four
elements share the 64 bits of one draw, 16 bits each, so the probability is exact to 1 in 65,536.
"""

from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.paper.model import AddDropout, Dropout

LEAST_BITS = -(2**15)  # the least 16-bit integer


@final
class CheapDropout(Dropout):
    """Dropout on a CPU with 16 random bits per element    (section 5.4)"""

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Return Dropout(x), or x outside training mode."""
        return dropout(x, self.p) if self.training else x


@final
class CheapAddDropout(AddDropout):
    """x + Dropout(y) on a CPU with 16 random bits per element    (section 5.4)"""

    def forward(
        self, x: Float[Tensor, "*shape"], y: Float[Tensor, "*shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return x + Dropout(y), or x + y outside training mode."""
        return x + (dropout(y, self.p) if self.training else y)


def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Return x, each element being 0 with probability p and otherwise scaled by 1 / (1 - p)."""
    if p == 0:
        return x
    dropped: Tensor = DropoutFunction.apply(x, p)
    return dropped


class DropoutFunction(torch.autograd.Function):
    """Autograd function that multiplies x by a dropout mask, and its gradient by the same mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:  # noqa: ANN401 - torch's own context
        """Return x, each element being 0 with probability p and otherwise scaled by 1 / (1 - p)."""
        mask = build_dropout_mask(x, p)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_x: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        """Return the gradient of x (the output's gradient times the mask), and None for p."""
        (mask,) = ctx.saved_tensors
        return d_x * mask, None


def build_dropout_mask(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Draw a mask of the shape of x: each element is 0 with probability p, else 1 / (1 - p)."""
    if x.device.type != "cpu":
        return torch.empty_like(x).bernoulli_(1 - p).div_(1 - p)
    draws = draw_words(x)
    mask = torch.empty_like(x)
    torch.ge(view_bits(draws, x), compute_dropout_threshold(p), out=mask)
    return mask.mul_(1 / (1 - p))


def draw_words(x: Float[Tensor, "*shape"]) -> Int[Tensor, " words"]:
    """Draw one random 64-bit integer for every four elements of x."""
    return torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)


def view_bits(words: Int[Tensor, " words"], x: Float[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """View 64-bit integers as 16-bit integers in the shape of x, one for each element."""
    return words.view(torch.int16)[: x.numel()].view(x.shape)


def compute_dropout_threshold(p: float) -> int:
    """Return the dropout threshold: the least random int16 that keeps an element."""
    return round(p * 65_536) + LEAST_BITS
