"""Products of float32 rows with 8-bit matrices by the kernels of two libraries, equal to the bit.

FBGEMM's kernel rounds its inputs and is faster with few rows. oneDNN's kernel takes inputs that are
rounded already and is faster with many rows.
"""

import functools
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.fast.onednn import PackedModule, script_if_traced

# R rows · n numbers in, m out

LEVELS = 127  # the highest level of 8 bits with a sign
SAFE_LEVELS = 64  # a sum of two products, 2 · 255 · 64, fits in 16 bits with a sign
MIDPOINT_COLUMNS = 16  # columns of the matrix that compares how two kernels round
SMALLEST = 1e-30  # the least divisor, for rows of zeros


@final
class InputLevels(NamedTuple):
    """The 256 levels that inputs are rounded to, stored without a sign."""

    levels: int  # the number of levels from 0 to the largest input
    zero_point: int  # the level of input 0


SIGNED = InputLevels(LEVELS, 128)  # for inputs from -1 to 1
POSITIVE = InputLevels(255, 0)  # for inputs from 0 to 1: twice as fine


def round_rows_to_int8(weight: Float[Tensor, "m n"], levels: int) -> Tensor:
    """Return a quantized tensor: each row rounded to -levels .. levels by a scale of its own."""
    scales = weight.abs().amax(dim=1).clamp_(min=SMALLEST).double() / levels
    zeros = torch.zeros(len(weight), dtype=torch.long)
    with without_announcement():
        return torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)


@contextmanager
def without_announcement() -> Iterator[None]:
    """Context manager that hides torch's warning that it plans to replace quantized tensors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.quantize_per_tensor", UserWarning)
        yield


@final
class FbgemmMatrix(PackedModule):
    """An 8-bit matrix W packed for FBGEMM, and the levels that its inputs are rounded to."""

    def __init__(self, rounded: Tensor, inputs: InputLevels = SIGNED) -> None:
        super().__init__()
        self.inputs = inputs
        self.packed = torch.ops.quantized.linear_prepack(rounded, None)

    def multiply(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Round x, whose largest magnitude is 1, to 8 bits; return x Wᵀ."""
        operator = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
        return operator(x, 1 / self.inputs.levels, self.inputs.zero_point, self.packed)


@final
class OneDnnMatrix(PackedModule):
    """An 8-bit matrix W packed for oneDNN, and the levels that its inputs are rounded to."""

    def __init__(self, rounded: Tensor, inputs: InputLevels = SIGNED) -> None:
        super().__init__()
        self.inputs = inputs
        packed = torch.ops.onednn.qlinear_prepack(rounded.int_repr(), None)
        self.register_buffer("packed", packed, persistent=False)  # else it cannot be in a graph
        # FBGEMM rounds the product of both scales before it multiplies a sum with it
        self.scales = rounded.q_per_channel_scales().float() * torch.tensor(1 / inputs.levels)
        self.zeros = torch.zeros(len(rounded), dtype=torch.long)

    def multiply(self, x: Float[Tensor, "R n"]) -> Float[Tensor, "R m"]:
        """Round x, whose largest magnitude is 1, to 8 bits; return x Wᵀ."""
        scale, zero_point = 1 / self.inputs.levels, self.inputs.zero_point
        integers = torch.quantize_per_tensor(x, scale, zero_point, torch.quint8).int_repr()
        return multiply_integers(integers, zero_point, self.packed, self.scales, self.zeros)


@script_if_traced  # a list without elements cannot be traced
def multiply_integers(
    x: Tensor, zero_point: int, packed: Tensor, scales: Tensor, zeros: Tensor
) -> Tensor:
    """Return x Wᵀ by oneDNN's kernel, for integers x in which `zero_point` means 0."""
    return torch.ops.onednn.qlinear_pointwise(
        x, 1.0, zero_point, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", (), "",
    )  # fmt: skip


@functools.cache
def unsupported_int8_reason() -> str:
    """Return why torch cannot multiply int8 matrices on this processor, or "" if it can."""
    try:
        probe = torch.eye(16, 32)
        product = FbgemmMatrix(round_rows_to_int8(probe[:8].clone(), SAFE_LEVELS)).multiply(probe)
    except (RuntimeError, AttributeError, NotImplementedError):
        return "this torch has no 8-bit products for this processor"
    is_right = torch.allclose(product, probe @ probe[:8].t(), atol=0.01)
    return "" if is_right else "the 8-bit products of this torch are wrong on this processor"


@functools.cache
def do_sums_saturate() -> bool:
    """Return whether this processor clips the sum of two 8-bit products to 16 bits.

    Processors without VNNI instructions do. Weights are then rounded to 7 bits, whose sums fit.
    """
    ones = torch.ones(16, 64)
    product = FbgemmMatrix(round_rows_to_int8(ones, LEVELS)).multiply(ones)
    return not torch.allclose(product, torch.full_like(product, 64.0), rtol=0.01)


@functools.cache
def has_equal_onednn_kernel() -> bool:
    """Return whether oneDNN's kernel sums in 32 bits and gives FBGEMM's product to the bit.

    In some versions of torch, such as 2.11, it rounds inputs near the middle of two levels
    differently.
    """
    if do_sums_saturate():
        return False
    generator = torch.Generator().manual_seed(1)
    rounded = round_rows_to_int8(torch.randn(150, 70, generator=generator), LEVELS)
    probes = [(rounded, torch.rand(90, 70, generator=generator) * 2 - 1, SIGNED)]
    unit = round_rows_to_int8(torch.eye(MIDPOINT_COLUMNS), LEVELS)
    probes += [(unit, list_midpoints(levels), levels) for levels in (SIGNED, POSITIVE)]
    try:
        with without_announcement():
            return all(
                torch.equal(
                    OneDnnMatrix(w, levels).multiply(x), FbgemmMatrix(w, levels).multiply(x)
                )
                for w, x, levels in probes
            )
    except (RuntimeError, AttributeError, NotImplementedError):
        return False


def list_midpoints(inputs: InputLevels) -> Float[Tensor, "R n"]:
    """Return inputs that probe rounding: midpoints of quantisation levels and adjacent floats.

    They are in rows of 16; values beyond -1 to 1 and an incomplete last row are left out.
    """
    lowest = -inputs.zero_point
    levels = torch.arange(lowest, lowest + 255, dtype=torch.float64)
    middle = ((levels + 0.5) / inputs.levels).float()
    beside = [torch.nextafter(middle, torch.tensor(end)) for end in (-torch.inf, torch.inf)]
    found = torch.cat([middle, *beside])
    found = found[found.abs() <= 1]
    return found[: len(found) // MIDPOINT_COLUMNS * MIDPOINT_COLUMNS].view(-1, MIDPOINT_COLUMNS)
