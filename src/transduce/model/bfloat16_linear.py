"""The linear map x Wᵀ + b for training in bfloat16 on a CPU, with fewer passes over large tensors

oneDNN's kernel adds the bias and applies the ReLU while it writes a product. The gradient of W is a
product whose left factor is transposed, and with AMX oneDNN computes such a product at half its
rate: there a transposed copy of the smaller factor is made first (decision 0045). Sums over all
rows are products, too.
"""

import functools
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.machine.device import is_bfloat16_training_on_cpu
from transduce.machine.processor import read_processor
from transduce.model.float_bits import zero_where_not_positive
from transduce.model.onednn import has_onednn_bfloat16, multiply_by_onednn

# R rows · n numbers in, m out · k sums

LEAST_TRANSPOSED = 512  # columns of a factor from which a transposed copy of it pays
SUM_ROWS = 16  # as many sums take less time in oneDNN's kernel than one alone


def should_use_onednn(x: Tensor) -> bool:
    """Return whether x is trained on in bfloat16, on a CPU with instructions for it."""
    return is_bfloat16_training_on_cpu(x) and has_onednn_bfloat16()


class OneDnnLinearFunction(torch.autograd.Function):
    """Autograd function of x Wᵀ + b and what follows it: "none" or "relu"."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        then: str,
    ) -> Tensor:
        """Compute x Wᵀ + b, or max(0, x Wᵀ + b), in one kernel."""
        out = multiply_by_onednn(x, weight, bias, then)
        ctx.save_for_backward(x, weight, out if then == "relu" else None)
        ctx.has_bias = bias is not None
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the gradients of x, W and b."""
        x, weight, out = ctx.saved_tensors
        if out is not None:
            d_out = zero_where_not_positive(d_out, out)
        d_bias = sum_rows(d_out) if ctx.has_bias else None
        return d_out @ weight, multiply_transposed(d_out, x), d_bias, None


def multiply_transposed(a: Float[Tensor, "R m"], b: Float[Tensor, "R n"]) -> Float[Tensor, "m n"]:
    """Compute Aᵀ B of two bfloat16 matrices, which have many rows."""
    m, n = a.shape[1], b.shape[1]
    if min(m, n) >= LEAST_TRANSPOSED and is_transposed_product_slow():
        if n >= 2 * m:
            return transpose_by_product(a) @ b
        if m >= 4 * n:  # the result is transposed, which costs time once more
            return (transpose_by_product(b) @ a).t()
    return a.t() @ b


def transpose_by_product(a: Float[Tensor, "R m"]) -> Float[Tensor, "m R"]:
    """Return a transposed copy of a matrix: the unit matrix times Aᵀ, which is exact.

    torch's copy of a transposed matrix uses one thread. One infinite or NaN element makes a whole
    column NaN here; an update with such a gradient is skipped anyway.
    """
    return multiply_by_onednn(unit_matrix(a.shape[1], a.dtype), a, None, "none")


@functools.cache
def unit_matrix(size: int, dtype: torch.dtype) -> Float[Tensor, "size size"]:
    """Return the unit matrix of a size; it is kept, and must not be changed."""
    return torch.eye(size, dtype=dtype)


def sum_rows(a: Float[Tensor, "R m"]) -> Float[Tensor, " m"]:
    """Add up all rows of a bfloat16 matrix, in float32; torch's own sum takes twice as long."""
    return weighted_sums(torch.ones(1, len(a), dtype=a.dtype), a)[0]


def weighted_sums(factors: Float[Tensor, "k R"], a: Float[Tensor, "R m"]) -> Float[Tensor, "k m"]:
    """Compute k ≤ SUM_ROWS sums of a bfloat16 matrix's rows, each times a factor, in float32."""
    padded = factors.new_zeros(SUM_ROWS, factors.shape[1])
    padded[: len(factors)] = factors
    return (padded @ a)[: len(factors)]


@functools.cache
def is_transposed_product_slow() -> bool:
    """Return whether oneDNN multiplies a transposed matrix at half its rate: with AMX it does."""
    return "amx_bf16" in read_processor().features
