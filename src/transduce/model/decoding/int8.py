"""Linear maps in 8-bit integers for inference: each row has a scale of its own (decision 0039)

A row of x is divided by its largest magnitude and rounded to 8 bits; so is every row of W, once.
The products are summed exactly, as integers: a row has the same product alone and in a batch.
"""

import functools
import warnings
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.linear import Linear

# R rows · n numbers in, m out

LEVELS = 127  # 8 bits with a sign
SAFE_LEVELS = 64  # a sum of two products, 2 · 255 · 64, fits in 16 bits with a sign
ZERO_POINT = 128  # inputs are stored without a sign
SMALLEST = 1e-30  # the least divisor, for rows of zeros


@final
class Int8Linear(nn.Module):
    """The linear map x Wᵀ + b with x and W rounded to 8 bits: replaces a `Linear` for inference."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        levels = SAFE_LEVELS if do_sums_saturate() else LEVELS
        self.packed = pack_int8(linear.weight.detach(), levels)
        self.bias = linear.bias

    def multiply(
        self, x: Float[Tensor, "R n"]
    ) -> tuple[Float[Tensor, "R m"], Float[Tensor, "R 1"]]:
        """Return x Wᵀ for each row of x divided by its largest magnitude, and these magnitudes."""
        largest = x.abs().amax(dim=1, keepdim=True)
        # 0 / 0 in a row of zeros is rounded to some integer, and the product is multiplied by 0
        return multiply_int8(x / largest, self.packed), largest

    def forward(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute x Wᵀ + b for R rows of n numbers each, without gradients."""
        out, largest = self.multiply(x)
        if self.bias is None:
            return out.mul_(largest)
        return torch.addcmul(self.bias, out, largest, out=out)

    def relu(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Compute max(0, x Wᵀ + b)."""
        return self(x).relu_()

    def add(self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        out, largest = self.multiply(x)
        total = torch.addcmul(residual, out, largest, out=out)
        return total if self.bias is None else total.add_(self.bias)

    if TYPE_CHECKING:
        __call__ = forward


def pack_int8(weight: Float[Tensor, "m n"], levels: int) -> torch.ScriptObject:
    """Round every row of a matrix to -levels .. levels by its own scale, and pack it for FBGEMM."""
    scales = weight.abs().amax(dim=1).clamp_(min=SMALLEST).double() / levels
    zeros = torch.zeros(len(weight), dtype=torch.long)
    with warnings.catch_warnings():  # torch plans to replace quantized tensors
        warnings.filterwarnings("ignore", "torch.quantize_per_tensor", UserWarning)
        rounded = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(rounded, None)


def multiply_int8(x: Float[Tensor, "R n"], packed: torch.ScriptObject) -> Float[Tensor, "R m"]:
    """Round x, with values from -1 to 1, to 8 bits; return x Wᵀ for a packed 8-bit matrix W."""
    operator = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
    return operator(x, 1 / LEVELS, ZERO_POINT, packed)


@functools.cache
def unsupported_int8_reason() -> str:
    """Return why this torch cannot multiply in 8 bits on this processor; empty if it can."""
    try:
        probe = torch.eye(16, 32)
        product = multiply_int8(probe, pack_int8(probe[:8].clone(), SAFE_LEVELS))
    except (RuntimeError, AttributeError, NotImplementedError):
        return "this torch has no 8-bit products for this processor"
    is_right = torch.allclose(product, probe @ probe[:8].t(), atol=0.01)
    return "" if is_right else "the 8-bit products of this torch are wrong on this processor"


@functools.cache
def do_sums_saturate() -> bool:
    """Return whether this processor cuts the sum of two 8-bit products to 16 bits.

    Processors without the VNNI instructions do. Weights are then rounded to 7 bits, whose sums
    are not cut.
    """
    ones = torch.ones(16, 64)
    product = multiply_int8(ones, pack_int8(ones, LEVELS))
    return not torch.allclose(product, torch.full_like(product, 64.0), rtol=0.01)
