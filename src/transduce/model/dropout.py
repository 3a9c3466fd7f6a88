"""Dropout with cheap random bits    (section 5.4)

torch draws one random number for every element, on one thread of a CPU. In this module four
elements share the 64 bits of one draw, 16 bits each: the probability is exact to 1 in 65,536.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from transduce.machine.device import is_bfloat16_training_on_cpu
from transduce.model.float_bits import zero_where_at_most

LEAST_BITS = -(2**15)  # the least integer of 16 bits


def dropout(x: Float[Tensor, "*shape"], p: float, *, training: bool) -> Float[Tensor, "*shape"]:
    """Zero elements with probability p and scale the others by 1 / (1 - p); only in training."""
    if not training or p == 0:
        return x
    if x.device.type != "cpu":
        return functional.dropout(x, p)
    dropped: Tensor = DropoutFunction.apply(x, p)
    return dropped


def add_dropout(
    x: Float[Tensor, "*shape"], y: Float[Tensor, "*shape"], p: float, *, training: bool
) -> Float[Tensor, "*shape"]:
    """Compute x + Dropout(y); dropout is only in training."""
    if not training or p == 0 or not is_bfloat16_training_on_cpu(y):
        return x + dropout(y, p, training=training)
    total: Tensor = AddDropoutFunction.apply(x, y, p)
    return total


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


class AddDropoutFunction(torch.autograd.Function):
    """Autograd function of x + Dropout(y) in bfloat16, in two passes and without a mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, p: float) -> Tensor:  # noqa: ANN401
        """Return x plus y with elements zeroed with probability p, the others scaled."""
        bits = view_bits(draw_words_by_numpy(y), y)
        ctx.save_for_backward(bits)
        ctx.p = p
        return torch.add(x, zero_dropped(y, bits, p), alpha=1 / (1 - p))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_total: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401
        """Return the gradients of x and y."""
        (bits,) = ctx.saved_tensors
        return d_total, zero_dropped(d_total, bits, ctx.p).mul_(1 / (1 - ctx.p)), None


def build_dropout_mask(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Draw a mask of the shape of x: 0 with probability p, else 1 / (1 - p)."""
    if x.device.type != "cpu":
        return torch.empty_like(x).bernoulli_(1 - p).div_(1 - p)
    draws = draw_words(x)
    mask = torch.empty_like(x)
    torch.ge(view_bits(draws, x), least_kept(p), out=mask)
    return mask.mul_(1 / (1 - p))


def draw_words(x: Float[Tensor, "*shape"]) -> Int[Tensor, " words"]:
    """Draw a random integer of 64 bits for every four elements of x."""
    return torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)


def draw_words_by_numpy(x: Float[Tensor, "*shape"]) -> Int[Tensor, " words"]:
    """Draw as `draw_words` does, in half the time, from a seed that torch's generator draws.

    torch's compiler, which sees masks being made, cannot see through numpy's generator.
    """
    seed = int(torch.empty((), dtype=torch.int64).random_().numpy())
    words = np.random.SFC64(seed).random_raw((x.numel() + 3) // 4)
    return torch.from_numpy(words).view(torch.int64)


def view_bits(words: Int[Tensor, " words"], x: Float[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """View random integers of 64 bits as integers of 16 bits, one for every element of x."""
    return words.view(torch.int16)[: x.numel()].view(x.shape)


def least_kept(p: float) -> int:
    """Return the least integer of 16 bits that keeps its element: a share p of them is less."""
    return round(p * 65_536) + LEAST_BITS


def zero_dropped(
    y: Float[Tensor, "*shape"], bits: Int[Tensor, "*shape"], p: float
) -> Float[Tensor, "*shape"]:
    """Return 16-bit floats y with zeros where their random bits drop them."""
    return zero_where_at_most(y, bits, max(least_kept(p) - 1, LEAST_BITS))
