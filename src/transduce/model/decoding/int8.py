"""Linear maps in 8-bit integers for inference: each row has a scale of its own (decision 0039)

A row of x is divided by its largest magnitude and rounded to 8 bits; so is every row of W, once.
The products are summed exactly, as integers: a row has the same product alone and in a batch.
"""

from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.model.decoding.int8_kernels import (
    LEVELS,
    SAFE_LEVELS,
    FbgemmMatrix,
    OneDnnMatrix,
    do_sums_saturate,
    has_equal_onednn_kernel,
    round_rows_to_int8,
)
from transduce.model.linear import Linear

# R rows · n numbers in, m out

# oneDNN's kernel is faster with so many rows, and so many times more outputs than inputs
MANY_ROWS, WIDE = 64, 3


@final
class Int8Linear(nn.Module):
    """The linear map x Wᵀ + b with x and W rounded to 8 bits: replaces a `Linear` for inference."""

    def __init__(self, linear: Linear) -> None:
        super().__init__()
        levels = SAFE_LEVELS if do_sums_saturate() else LEVELS
        rounded = round_rows_to_int8(linear.weight.detach(), levels)
        outputs, inputs = rounded.shape
        is_wide = outputs >= WIDE * inputs and has_equal_onednn_kernel()
        self.for_few_rows = FbgemmMatrix(rounded)
        self.for_many_rows = OneDnnMatrix(rounded) if is_wide else self.for_few_rows
        self.bias = linear.bias

    def multiply(
        self, x: Float[Tensor, "R n"]
    ) -> tuple[Float[Tensor, "R m"], Float[Tensor, "R 1"]]:
        """Return x Wᵀ for each row of x divided by its largest magnitude, and these magnitudes."""
        largest = x.abs().amax(dim=1, keepdim=True)
        matrix = self.for_few_rows if x.shape[0] < MANY_ROWS else self.for_many_rows
        # 0 / 0 in a row of zeros is rounded to some integer, and the product is multiplied by 0
        return matrix.multiply(x / largest), largest

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
