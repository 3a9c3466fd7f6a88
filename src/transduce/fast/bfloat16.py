"""Training in bfloat16 on a CPU: linear maps, norms and dropout with fewer passes over tensors

oneDNN's kernel adds the bias and applies the ReLU while it writes a product. The gradient of W is a
product whose left factor is transposed, and with AMX oneDNN computes such a product at half its
rate. If one of two wide factors is much narrower than the other, a transposed copy of it makes the
product faster (decision 0045). Sums over all rows are also products, as oneDNN adds in
float32. torch adds the tokens' gradients of gain and bias in bfloat16, where small terms added to a
large sum are lost (decision 0046).

torch converts bfloat16 to float32 and back for most operations on a CPU, but it compares 16-bit
integers directly, 32 at a time with AVX-512. Read as an integer, a float's bits have the float's
sign. So elements are zeroed by comparing bits.
"""

import functools
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transduce.fast.dropout import LEAST_BITS, compute_dropout_threshold, dropout, view_bits
from transduce.fast.onednn import multiply_by_onednn
from transduce.machine.device import read_processor
from transduce.paper.model import AddDropout, LayerNorm, Linear

# R rows · n inputs and m outputs of a linear map · k sums · T tokens of a batch, concatenated

LEAST_TRANSPOSED = 512  # columns that both factors need before a transposed copy pays off
SUM_ROWS = 16  # sums computed at once: oneDNN's kernel takes less time for 16 than for 1


def is_recording_gradients() -> bool:
    """Return whether gradients are being recorded and torch.compile is not tracing."""
    return torch.is_grad_enabled() and not torch.compiler.is_compiling()


@final
class Bfloat16Linear(Linear):
    """A `Linear` in bfloat16 that computes x Wᵀ + b by oneDNN while gradients are recorded."""

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each."""
        if not is_recording_gradients():
            return super().forward(x)
        out: Tensor = OneDnnLinearFunction.apply(x, self.weight, self.bias, "none")
        return out

    def forward_relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b) for R rows of n numbers each."""
        if not is_recording_gradients():
            return super().forward_relu(x)
        out: Tensor = OneDnnLinearFunction.apply(x, self.weight, self.bias, "relu")
        return out


@final
class Bfloat16LayerNorm(LayerNorm):
    """Layer norm in bfloat16 whose gradients of gain and bias are summed in float32    (3.1)"""

    def forward(self, x: Float[Tensor, "T d_model"]) -> Float[Tensor, "T d_model"]:
        """Compute gain · (x - mean) / √(variance + ε) + bias for every token."""
        if not is_recording_gradients():
            return super().forward(x)
        out: Tensor = Bfloat16NormFunction.apply(x, self.weight, self.bias, self.eps)
        return out


@final
class Bfloat16AddDropout(AddDropout):
    """x + Dropout(y) for training in bfloat16, with 16 random bits per element    (section 5.4)"""

    def forward(
        self, x: Float[Tensor, "*shape"], y: Float[Tensor, "*shape"]
    ) -> Float[Tensor, "*shape"]:
        """Return x + Dropout(y), or x + y outside training mode."""
        if not (self.p and self.training and is_recording_gradients()):
            return x + (dropout(y, self.p) if self.training else y)
        total: Tensor = AddDropoutFunction.apply(x, y, self.p)
        return total


class OneDnnLinearFunction(torch.autograd.Function):
    """Autograd function of x Wᵀ + b, or of max(0, x Wᵀ + b) if `then` is "relu"."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        then: str,
    ) -> Tensor:
        """Compute x Wᵀ + b, or max(0, x Wᵀ + b) if `then` is "relu", in one kernel."""
        out = multiply_by_onednn(x, weight, bias, then)
        ctx.save_for_backward(x, weight, out if then == "relu" else None)
        ctx.has_bias = bias is not None
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """Return the gradients of x, W and b (None without a bias), and None for `then`."""
        x, weight, out = ctx.saved_tensors
        if out is not None:
            d_out = zero_where_not_positive(d_out, out)
        d_bias = sum_rows(d_out) if ctx.has_bias else None
        return d_out @ weight, multiply_transposed(d_out, x), d_bias, None


def multiply_transposed(a: Float[Tensor, "R m"], b: Float[Tensor, "R n"]) -> Float[Tensor, "m n"]:
    """Return Aᵀ B of two bfloat16 matrices, in the way that is fastest for their widths."""
    m, n = a.shape[1], b.shape[1]
    if min(m, n) >= LEAST_TRANSPOSED and is_transposed_product_slow():
        if n >= 2 * m:
            return transpose_by_product(a) @ b
        if m >= 4 * n:  # transposing the result takes time as well
            return (transpose_by_product(b) @ a).t()
    return a.t() @ b


def transpose_by_product(a: Float[Tensor, "R m"]) -> Float[Tensor, "m R"]:
    """Return a transposed copy of a matrix, computed without rounding as the unit matrix times Aᵀ.

    torch's own copy is slower: it uses one thread. An infinite or NaN element makes all other
    elements of its column in the copy NaN. An update with such a gradient is skipped anyway.
    """
    return multiply_by_onednn(unit_matrix(a.shape[1], a.dtype), a, None, "none")


@functools.cache
def unit_matrix(size: int, dtype: torch.dtype) -> Float[Tensor, "size size"]:
    """Return the unit matrix of a size from a cache; callers must not change it."""
    return torch.eye(size, dtype=dtype)


def sum_rows(a: Float[Tensor, "R m"]) -> Float[Tensor, " m"]:
    """Return the sum of a bfloat16 matrix's rows, added in float32 and rounded to bfloat16.

    This takes half the time of torch's sum.
    """
    return weighted_sums(torch.ones(1, len(a), dtype=a.dtype), a)[0]


def weighted_sums(factors: Float[Tensor, "k R"], a: Float[Tensor, "R m"]) -> Float[Tensor, "k m"]:
    """Return k weighted sums of the rows of `a`, with one row of `factors` as weights for each.

    k is at most SUM_ROWS. The sums are added in float32 and rounded to bfloat16.
    """
    padded = factors.new_zeros(SUM_ROWS, factors.shape[1])
    padded[: len(factors)] = factors
    return (padded @ a)[: len(factors)]


@functools.cache
def is_transposed_product_slow() -> bool:
    """Return whether oneDNN multiplies transposed matrices at half its rate: True with AMX."""
    return "amx_bf16" in read_processor().features


class Bfloat16NormFunction(torch.autograd.Function):
    """Layer norm in bfloat16 for autograd; gradients of gain and bias are summed in float32."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor, bias: Tensor, epsilon: float) -> Tensor:  # noqa: ANN401
        """Compute gain · (x - mean) / √(variance + ε) + bias for every token."""
        out, mean, scale = torch.native_layer_norm(x, gain.shape, gain, bias, epsilon)
        ctx.save_for_backward(x, gain, bias, mean, scale)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:  # noqa: ANN401
        """Return the gradients of x, gain and bias, and None for `epsilon`."""
        x, gain, bias, mean, scale = ctx.saved_tensors
        only_x = [True, False, False]
        d_x, _, _ = torch.ops.aten.native_layer_norm_backward(
            d_out, x, gain.shape, mean, scale, gain, bias, only_x
        )
        # Σ_t d_out (x - mean) · scale = Σ_t scale · d_out x - Σ_t scale · mean · d_out
        scales = scale.t()  # [1 T]
        factors = torch.cat((torch.ones_like(scales), scales * mean.t()))  # [2 T]
        d_bias, shift = weighted_sums(factors, d_out)
        return d_x, weighted_sums(scales, d_out * x)[0] - shift, d_bias, None


class AddDropoutFunction(torch.autograd.Function):
    """Autograd function of x + Dropout(y) in bfloat16; it saves random bits and no mask."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, p: float) -> Tensor:  # noqa: ANN401
        """Return x + m y; for each element m is 0 with probability p, else 1 / (1 - p)."""
        bits = view_bits(draw_words_by_numpy(y), y)
        ctx.save_for_backward(bits)
        ctx.p = p
        return torch.add(x, zero_dropped(y, bits, p), alpha=1 / (1 - p))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_total: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401
        """Return the gradients of x and y, and None for p."""
        (bits,) = ctx.saved_tensors
        return d_total, zero_dropped(d_total, bits, ctx.p).mul_(1 / (1 - ctx.p)), None


def draw_words_by_numpy(x: Float[Tensor, "*shape"]) -> Int[Tensor, " words"]:
    """Draw one random 64-bit integer for every four elements of x, by numpy with a seed from torch.

    numpy takes half the time of `draw_words` (dropout.py), but torch's compiler cannot trace it.
    """
    seed = int(torch.empty((), dtype=torch.int64).random_().numpy())
    words = np.random.SFC64(seed).random_raw((x.numel() + 3) // 4)
    return torch.from_numpy(words).view(torch.int64)


def zero_dropped(
    y: Float[Tensor, "*shape"], bits: Int[Tensor, "*shape"], p: float
) -> Float[Tensor, "*shape"]:
    """Return 16-bit floats y, each zeroed with probability p, by its random int16 in `bits`."""
    return zero_where_at_most(y, bits, max(compute_dropout_threshold(p) - 1, LEAST_BITS))


def zero_where_at_most(
    x: Float[Tensor, "*shape"], controls: Int[Tensor, "*shape"], limit: int
) -> Float[Tensor, "*shape"]:
    """Return 16-bit floats x, zeroed where the 16-bit integers `controls` are ≤ limit."""
    kept: Tensor = torch.ops.aten.threshold_backward(x.view(torch.int16), controls, limit)
    return kept.view(x.dtype)


def zero_where_not_positive(
    x: Float[Tensor, "*shape"], controls: Float[Tensor, "*shape"]
) -> Float[Tensor, "*shape"]:
    """Return 16-bit floats x, zeroed where the 16-bit floats `controls` are ≤ 0."""
    return zero_where_at_most(x, controls.view(torch.int16), 0)
