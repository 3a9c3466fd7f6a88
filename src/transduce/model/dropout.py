"""Dropout with cheap random bits    (section 5.4)

torch draws one random number for every element, on one thread of a CPU. In this module four
elements share the 64 bits of one draw, 16 bits each: the probability is exact to 1 in 65,536.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional


def dropout(x: Float[Tensor, "*shape"], p: float, *, training: bool) -> Float[Tensor, "*shape"]:
    """Zero elements with probability p and scale the others by 1 / (1 - p); only in training."""
    if not training or p == 0:
        return x
    if x.device.type != "cpu":
        return functional.dropout(x, p)
    dropped: Tensor = DropoutFunction.apply(x, p)
    return dropped


class DropoutFunction(torch.autograd.Function):
    """Autograd function that multiplies x by a dropout mask, and its gradient by the same mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, p: float) -> Tensor:  # noqa: ANN401 - torch's own context
        """Return x with elements zeroed with probability p, the others scaled by 1 / (1 - p)."""
        mask = build_dropout_mask(x, p)
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_x: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401
        """Return the gradient of x: the gradient of the output times the mask."""
        (mask,) = ctx.saved_tensors
        return d_x * mask, None


def build_dropout_mask(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Draw a mask of the shape of x: 0 with probability p, else 1 / (1 - p)."""
    if x.device.type != "cpu":
        return torch.empty_like(x).bernoulli_(1 - p).div_(1 - p)
    draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    bits = draws.view(torch.int16)[: x.numel()].view(x.shape)
    mask = torch.empty_like(x)
    torch.ge(bits, round(p * 65_536) - 32_768, out=mask)
    return mask.mul_(1 / (1 - p))
