"""Linear maps in 8-bit integers for inference: each row has a scale of its own (decision 0039)

A row of x is divided by its largest magnitude and rounded to 8 bits; so is every row of W, once.
The products are summed exactly, as integers: a row has the same product alone and in a batch.
"""

import sys
from typing import TYPE_CHECKING, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.int8_kernels import (
    LEVELS,
    POSITIVE,
    SAFE_LEVELS,
    SIGNED,
    FbgemmMatrix,
    OneDnnMatrix,
    do_sums_saturate,
    has_equal_onednn_kernel,
    round_rows_to_int8,
)
from transduce.machine.device import Processor, read_processor
from transduce.paper.model import FeedForward, Linear

# R rows · n numbers in, m out

# oneDNN's kernel is faster from MANY_ROWS rows on for a matrix with at least WIDE times as many
# outputs as inputs. With AMX it is faster from MANY_ROWS rows on for any matrix, and from FEW_ROWS
# rows on for one of at least LARGE weights.
FEW_ROWS, NEVER = 16, sys.maxsize
WIDE, LARGE = 3, 2**19


def count_rows_for_onednn(outputs: int, inputs: int, processor: Processor) -> int:
    """Return the least number of rows for which oneDNN's kernel is faster, or NEVER."""
    if not has_equal_onednn_kernel():
        return NEVER
    if "amx_int8" in processor.features:
        return FEW_ROWS if outputs * inputs >= LARGE else MANY_ROWS
    return MANY_ROWS if outputs >= WIDE * inputs else NEVER


@final
class Int8Linear(nn.Module):
    """The linear map x Wᵀ + b with x and W rounded to 8 bits, in place of a `Linear`."""

    precision = "int8"  # of its products

    def __init__(self, linear: Linear, *, follows_relu: bool = False) -> None:
        super().__init__()
        weight_levels = SAFE_LEVELS if do_sums_saturate() else LEVELS
        rounded = round_rows_to_int8(linear.weight.detach(), weight_levels)
        outputs, inputs = rounded.shape
        self.rows_for_onednn = count_rows_for_onednn(outputs, inputs, read_processor())
        levels = POSITIVE if follows_relu else SIGNED
        self.for_few_rows = FbgemmMatrix(rounded, levels)
        takes_both = self.rows_for_onednn != NEVER
        self.for_many_rows = OneDnnMatrix(rounded, levels) if takes_both else self.for_few_rows
        self.follows_relu = follows_relu  # no input is negative
        self.bias = linear.bias

    def multiply(
        self, x: Float[Tensor, "R n"]
    ) -> tuple[Float[Tensor, "R m"], Float[Tensor, "R 1"]]:
        """Return (x / m) Wᵀ and m, which is the largest magnitude of each row of x."""
        magnitudes = x if self.follows_relu else x.abs()
        largest = magnitudes.amax(dim=1, keepdim=True)
        matrix = self.for_few_rows if x.shape[0] < self.rows_for_onednn else self.for_many_rows
        # in a row of zeros, 0 / 0 is rounded to some integer; its product is multiplied by 0 later
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


def build_int8(linear: Linear, parent: nn.Module) -> Int8Linear:
    """Return a linear map in 8 bits; its place in `parent` shows whether it follows a ReLU."""
    if isinstance(parent, FeedForward) and linear is parent.outer:
        return Int8Linear(linear, follows_relu=is_never_negative(parent))
    return Int8Linear(linear)


@torch.no_grad()
def is_never_negative(layer: FeedForward) -> bool:
    """Return whether the activation gives no number below 0, as a ReLU does and swish does not."""
    width = layer.outer.weight.shape[0]
    return bool((layer.activate(torch.linspace(-4, 4, 16 * width).view(16, width)) >= 0).all())
