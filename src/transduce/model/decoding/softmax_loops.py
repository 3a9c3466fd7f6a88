"""Compiled loops over exponentials: the softmax of a few numbers, log-softmax of many rows"""

import math

import numpy as np
import torch
from jaxtyping import Float
from numpy import float32, int16, int32
from numpy.typing import NDArray
from torch import Tensor

from transduce.machine.compiled_loops import compile_loops

# R rows · V symbols · n numbers of a row

ZERO, HALF = float32(0), float32(0.5)
LOG2_E = float32(1 / math.log(2))
SMALLEST = float32(-127)  # powers of two from 2^-127 on become 0
EXPONENT_BIAS, EXPONENT_BITS = (
    int32(127),
    int32(23),
)  # what a float32's exponent 0 is, and its place
BFLOAT16_BITS = int32(16)  # a bfloat16 is the upper half of a float32
# The Taylor series of 2^f, from f⁰ to f⁶: within 2 · 10⁻⁷ of it for f from -1/2 to 1/2.
T6, T5, T4, T3, T2, T1, T0 = (
    float32(math.log(2) ** n / math.factorial(n)) for n in range(6, -1, -1)
)
LANES = 256  # columns whose maxima are taken side by side


def compute_log_softmax(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """Return the logarithms of the softmax of each row, in float32, written over float32 logits."""
    logits = logits.contiguous()
    if logits.dtype == torch.bfloat16:
        out = logits.new_empty(logits.shape, dtype=torch.float32)
        log_softmax_rows(out.numpy(), logits.view(torch.int16).numpy())
        return out
    log_softmax_rows(logits.numpy(), np.empty((0, 0), int16))
    return logits


@compile_loops
def power_of_e(x: float32) -> float32:
    """Return e^x for x <= 0: 2^i, whose bits are those of i, times a series for what is left."""
    y = x * LOG2_E
    y = SMALLEST if y < SMALLEST else y  # NaN stays
    i = int32(y - HALF)  # the nearest integer, since it is rounded towards 0
    f = y - float32(i)
    series = (((((T6 * f + T5) * f + T4) * f + T3) * f + T2) * f + T1) * f + T0
    return series * int32((i + EXPONENT_BIAS) << EXPONENT_BITS).view(float32)


@compile_loops
def softmax(x: NDArray[float32]) -> None:
    """Replace n numbers by their softmax; -inf becomes 0."""
    highest = x[0]
    for j in range(x.shape[0]):
        highest = max(highest, x[j])
    total = ZERO
    for j in range(x.shape[0]):
        e = power_of_e(x[j] - highest)
        x[j] = e
        total += e
    factor = float32(1) / total
    for j in range(x.shape[0]):
        x[j] *= factor


@compile_loops
def log_softmax_rows(logits: NDArray[float32], bits: NDArray[int16]) -> None:
    """Replace R rows of V logits by the logarithms of their softmax.

    Rows of bfloat16 logits come as their `bits`; only the result is written to `logits`.
    """
    lanes = np.empty(LANES, float32)
    for r in range(logits.shape[0]):
        row = logits[r]
        if bits.shape[0]:
            widen(bits[r], row.view(int32))
        highest = find_highest(row, lanes)
        subtract(row, highest + float32(math.log(sum_powers(row, highest))))


@compile_loops
def widen(bits: NDArray[int16], into: NDArray[int32]) -> None:
    """Write n bfloat16 numbers, given as their bits, as the bits of float32 numbers."""
    for j in range(bits.shape[0]):
        into[j] = int32(bits[j]) << BFLOAT16_BITS


@compile_loops
def find_highest(x: NDArray[float32], lanes: NDArray[float32]) -> float32:
    """Return the highest of n numbers, NaN left out; `lanes` is memory for 256 maxima."""
    lanes[:] = -np.inf
    whole = x.shape[0] // LANES * LANES
    for start in range(0, whole, LANES):
        part = x[start : start + LANES]
        for lane in range(LANES):
            lanes[lane] = part[lane] if part[lane] > lanes[lane] else lanes[lane]
    highest = float32(-np.inf)
    for number in lanes:
        highest = max(highest, number)
    for number in x[whole:]:
        highest = max(highest, number)
    return highest


@compile_loops
def sum_powers(x: NDArray[float32], highest: float32) -> float32:
    """Return the sum of e^(x - highest) over n numbers."""
    total = ZERO
    for j in range(x.shape[0]):
        total += power_of_e(x[j] - highest)
    return total


@compile_loops
def subtract(x: NDArray[float32], number: float32) -> None:
    """Subtract a number from each of n numbers in place."""
    for j in range(x.shape[0]):
        x[j] -= number
