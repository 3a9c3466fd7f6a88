"""Linear maps in 8-bit integers for inference: each row has a scale of its own (decision 0039)

Each row of x is divided by its largest magnitude and rounded to 8 bits, as each row of W was.
The products are summed exactly, as integers, so a row has the same product alone and in a batch.

The kernels of two libraries give products that are equal to the bit. FBGEMM's kernel rounds its
inputs and is faster with few rows. oneDNN's kernel takes rounded inputs and is faster with many.
"""

import functools
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.onednn import DecodingLinear, PackedModule, script_if_traced
from transduce.machine.device import Processor, read_processor
from transduce.paper.model import FeedForward, Linear

# R rows · n numbers in, m out

LEVELS = 127  # the highest level of 8 bits with a sign
SAFE_LEVELS = 64  # a sum of two products, 2 · 255 · 64, fits in 16 bits with a sign
MIDPOINT_COLUMNS = 16  # columns of the matrix that compares how two kernels round
SMALLEST = 1e-30  # the least divisor, for rows of zeros

# oneDNN's kernel is faster from MANY_ROWS rows on for a matrix with at least WIDE times as many
# outputs as inputs and more than SMALL weights. With AMX it is faster from MANY_ROWS rows on for
# any matrix, and from FEW_ROWS rows on for one of at least LARGE weights.
FEW_ROWS, NEVER = 16, sys.maxsize
WIDE, SMALL, LARGE = 3, 2**18, 2**19


def count_rows_for_onednn(outputs: int, inputs: int, processor: Processor) -> int:
    """Return the fewest rows of x for which oneDNN is used in place of FBGEMM, or NEVER."""
    if not has_equal_onednn_kernel():
        return NEVER
    if "amx_int8" in processor.features:
        return FEW_ROWS if outputs * inputs >= LARGE else MANY_ROWS
    return MANY_ROWS if outputs >= WIDE * inputs and outputs * inputs > SMALL else NEVER


@final
class Int8Linear(DecodingLinear):
    """The linear map x Wᵀ + b with x and W rounded to 8 bits, in place of a `Linear`."""

    precision = "int8"  # of the products, as `describe_precision` names it

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
        """Return (x / c) Wᵀ and c, where c has the largest magnitude of each row of x."""
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

    def forward_add(
        self, x: Float[Tensor, "R n"], residual: Float[Tensor, "R m"]
    ) -> Float[Tensor, "R m"]:
        """Compute residual + x Wᵀ + b."""
        out, largest = self.multiply(x)
        total = torch.addcmul(residual, out, largest, out=out)
        return total if self.bias is None else total.add_(self.bias)


def build_int8(linear: Linear, parent: nn.Module) -> Int8Linear:
    """Return a linear map in 8 bits; its place in `parent` shows whether it follows a ReLU."""
    if isinstance(parent, FeedForward) and linear is parent.outer:
        return Int8Linear(linear, follows_relu=is_never_negative(parent))
    return Int8Linear(linear)


@torch.no_grad()
def is_never_negative(layer: FeedForward) -> bool:
    """Return whether the activation's output is never negative: True for ReLU, False for swish."""
    width = layer.outer.weight.shape[0]
    return bool((layer.compute_inner(torch.linspace(-4, 4, 16 * width).view(16, width)) >= 0).all())


# --- Kernels --------------------------------------------------------------------------------------


@final
class InputLevels(NamedTuple):
    """The 256 levels, stored as unsigned 8-bit integers, that inputs are rounded to."""

    levels: int  # the number of levels from 0 to the largest input
    zero_point: int  # the level of input 0


SIGNED = InputLevels(LEVELS, 128)  # for inputs from -1 to 1
POSITIVE = InputLevels(255, 0)  # for inputs from 0 to 1: twice as fine


def round_rows_to_int8(weight: Float[Tensor, "m n"], levels: int) -> Tensor:
    """Return W as a quantized tensor, each row a scale times integers from -levels to levels."""
    scales = weight.abs().amax(dim=1).clamp_(min=SMALLEST).double() / levels
    zeros = torch.zeros(len(weight), dtype=torch.long)
    with hide_deprecation_warning():
        return torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)


@contextmanager
def hide_deprecation_warning() -> Iterator[None]:
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
        self.register_buffer("packed", packed, persistent=False)  # a buffer, as in `OneDnnLinear`
        # as in FBGEMM, the product of both scales is rounded before a sum is multiplied by it
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
    """Return (x - zero_point) Wᵀ · scales in float32 by oneDNN; x and the packed W are 8-bit."""
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
    """Return whether oneDNN's 8-bit kernel gives the same bits as FBGEMM's and sums in 32 bits.

    In some versions of torch, such as 2.11, inputs near the middle of two levels are rounded
    differently by the two kernels.
    """
    if do_sums_saturate():
        return False
    generator = torch.Generator().manual_seed(1)
    rounded = round_rows_to_int8(torch.randn(150, 70, generator=generator), LEVELS)
    probes = [(rounded, torch.rand(90, 70, generator=generator) * 2 - 1, SIGNED)]
    unit = round_rows_to_int8(torch.eye(MIDPOINT_COLUMNS), LEVELS)
    probes += [(unit, list_midpoints(levels), levels) for levels in (SIGNED, POSITIVE)]
    try:
        with hide_deprecation_warning():
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
