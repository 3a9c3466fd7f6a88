"""Compiled loops around a softmax: attention to a KV cache, and log-softmax of logits

torch calls a library's product for each sentence and head, which waits for memory. These loops read
each key and value once, in their order, and the processor fetches what follows (decision 0047).
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from numpy import float32, int32
from numpy.typing import NDArray
from torch import Tensor

from transduce.machine.compiled_loops import compile_loops, compile_sums

# S sentences · W hypotheses of each, R = S W · H heads · s positions or slots · K numbers of a key
# or query, D of a value · V symbols · n numbers of a row

Numbers = NDArray[float32]
# A tensor [S, H, _, K] as the numbers of its memory, from its first one on, and its strides over
# sentences, heads and positions: numba's loops over a slice with strides of its own are slow.
Strided = tuple[Numbers, tuple[int, int, int]]

POSITIONS_AT_ONCE = 4  # s must be a multiple of it
LANES = 256  # columns whose maxima are taken side by side

ZERO, HALF = float32(0), float32(0.5)
LOG2_E = float32(1 / math.log(2))
SMALLEST = float32(-127)  # 2^-127 and less become 0
EXPONENT_BIAS = int32(127)  # a float32 stores its exponent plus this number,
EXPONENT_SHIFT = int32(23)  # from this bit on
# The Taylor series of 2^f, from f⁰ to f⁶: within 2 · 10⁻⁷ of it for f from -1/2 to 1/2.
T0, T1, T2, T3, T4, T5, T6 = (float32(math.log(2) ** n / math.factorial(n)) for n in range(7))


def attend_by_loops(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s D"],
    mask: Float[Tensor, "S 1 #W s"],
) -> Float[Tensor, "S W HD"]:
    """Compute attention from each hypothesis to its sentence's keys and values    (equation 1)"""
    sentences, heads, width, key_width = q.shape
    value_width = v.shape[3]
    assert k.shape[2] % POSITIONS_AT_ONCE == 0, "a loop would read beyond the last position"
    assert q.stride(3) == 1, "the numbers of a query lie apart"
    assert k.stride()[2:] == (key_width, 1), "the keys of a head lie apart"
    assert v.stride()[2:] == (value_width, 1), "the values of a head lie apart"
    out = q.new_empty(sentences, width, heads, value_width)
    queries, keys, values = ((view_from_first(one), one.stride()[:3]) for one in (q, k, v))
    attend(queries, keys, values, mask[:, 0].contiguous().numpy(), key_width, out.numpy())
    return out.flatten(2)


# as an operator of torch, which a graph of the layers can hold (layer_graph.py)
SIGNATURE = "(Tensor q, Tensor k, Tensor v, Tensor mask) -> Tensor"
torch.library.define("transduce::attend_by_loops", SIGNATURE)
torch.library.impl("transduce::attend_by_loops", "cpu", attend_by_loops)
LOOP_OPERATOR = torch.ops.transduce.attend_by_loops.default


def view_from_first(x: Tensor) -> Numbers:
    """Return all numbers of a tensor's memory from its first one on, as one row."""
    count = x.untyped_storage().nbytes() // x.element_size() - x.storage_offset()
    return x.as_strided((int(count),), (1,)).numpy()


def log_softmax_by_loops(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """Return the logarithms of the softmax of each row, written over contiguous logits."""
    logits = logits.contiguous()
    log_softmax_rows(logits.numpy())
    return logits


@compile_sums
def power_of_e(x: float32) -> float32:
    """Return e^x for x <= 0: 2^i, whose bits are those of i, times a series for what is left."""
    y = x * LOG2_E
    y = SMALLEST if y < SMALLEST else y  # NaN stays
    number = ZERO if np.isnan(y) else y  # NaN is no integer
    i = int32(number - HALF)  # the nearest integer, since it is rounded towards 0
    f = y - float32(i)
    series = (((((T6 * f + T5) * f + T4) * f + T3) * f + T2) * f + T1) * f + T0
    return series * int32((i + EXPONENT_BIAS) << EXPONENT_SHIFT).view(float32)


@compile_sums
def attend(
    queries: Strided, keys: Strided, values: Strided, mask: Numbers, key_width: int, out: Numbers
) -> None:
    """Write the attention of all sentences, hypotheses and heads to `out`    (equation 1)"""
    (q, q_strides), (k, k_strides), (v, v_strides) = queries, keys, values
    sentences, width, heads, value_width = out.shape
    scale = float32(1 / math.sqrt(key_width))
    # Two hypotheses at once: the last of an odd number has a neighbour of zeros.
    scaled = np.zeros((width + 1, key_width), float32)
    weights = np.zeros((width + 1, mask.shape[2]), float32)
    unused = np.empty(value_width, float32)
    for s in range(sentences):
        for h in range(heads):
            some_keys = k[s * k_strides[0] + h * k_strides[1] :]
            some_values = v[s * v_strides[0] + h * v_strides[1] :]
            for w in range(width):
                at = s * q_strides[0] + h * q_strides[1] + w * q_strides[2]
                copy_scaled(q[at : at + key_width], scale, scaled[w])
            for w in range(0, width, 2):
                score_positions(scaled[w], scaled[w + 1], some_keys, weights[w], weights[w + 1])
            for w in range(width):
                masked_softmax(weights[w], mask[s, w if mask.shape[1] > 1 else 0])
            for w in range(0, width, 2):
                beside = out[s, w + 1, h] if w + 1 < width else unused
                add_up_values(weights[w], weights[w + 1], some_values, out[s, w, h], beside)


@compile_sums
def copy_scaled(x: Numbers, factor: float32, into: Numbers) -> None:
    """Write x times a factor to another array."""
    for d in range(x.shape[0]):
        into[d] = x[d] * factor


@compile_sums
def score_positions(q: Numbers, r: Numbers, keys: Numbers, of_q: Numbers, of_r: Numbers) -> None:
    """Write the product of two queries with each key, four at once."""
    width = q.shape[0]
    for j in range(0, of_q.shape[0], POSITIONS_AT_ONCE):
        at = j * width
        k0, k1 = keys[at : at + width], keys[at + width : at + 2 * width]
        k2, k3 = keys[at + 2 * width : at + 3 * width], keys[at + 3 * width : at + 4 * width]
        q0, q1, q2, q3 = ZERO, ZERO, ZERO, ZERO
        r0, r1, r2, r3 = ZERO, ZERO, ZERO, ZERO
        for d in range(width):
            a, b = q[d], r[d]
            q0 += a * k0[d]
            q1 += a * k1[d]
            q2 += a * k2[d]
            q3 += a * k3[d]
            r0 += b * k0[d]
            r1 += b * k1[d]
            r2 += b * k2[d]
            r3 += b * k3[d]
        of_q[j], of_q[j + 1], of_q[j + 2], of_q[j + 3] = q0, q1, q2, q3
        of_r[j], of_r[j + 1], of_r[j + 2], of_r[j + 3] = r0, r1, r2, r3


@compile_sums
def masked_softmax(scores: Numbers, mask: Numbers) -> None:
    """Replace n scores by their softmax; a score has no share where the mask is -inf and not 0."""
    highest = float32(-np.inf)
    for j in range(scores.shape[0]):
        scores[j] += mask[j]
        highest = max(highest, scores[j])
    total = ZERO
    for j in range(scores.shape[0]):
        e = power_of_e(scores[j] - highest)
        scores[j] = e
        total += e
    factor = float32(1) / total
    for j in range(scores.shape[0]):
        scores[j] *= factor


@compile_sums
def add_up_values(p: Numbers, r: Numbers, values: Numbers, of_p: Numbers, of_r: Numbers) -> None:
    """Write the sums of the values, each times its weight in p and in r, four at once."""
    width = of_p.shape[0]
    of_p[:], of_r[:] = ZERO, ZERO
    for j in range(0, p.shape[0], POSITIONS_AT_ONCE):
        at = j * width
        v0, v1 = values[at : at + width], values[at + width : at + 2 * width]
        v2, v3 = values[at + 2 * width : at + 3 * width], values[at + 3 * width : at + 4 * width]
        p0, p1, p2, p3 = p[j], p[j + 1], p[j + 2], p[j + 3]
        r0, r1, r2, r3 = r[j], r[j + 1], r[j + 2], r[j + 3]
        for d in range(width):
            of_p[d] += p0 * v0[d] + p1 * v1[d] + p2 * v2[d] + p3 * v3[d]
            of_r[d] += r0 * v0[d] + r1 * v1[d] + r2 * v2[d] + r3 * v3[d]


@compile_sums
def log_softmax_rows(logits: Numbers) -> None:
    """Replace R rows of V logits by the logarithms of their softmax."""
    lanes = np.empty(LANES, float32)
    for r in range(logits.shape[0]):
        row = logits[r]
        highest = find_highest(row, lanes)
        subtract(row, highest, float32(math.log(sum_powers(row, highest))))


@compile_sums
def find_highest(x: Numbers, lanes: Numbers) -> float32:
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


@compile_sums
def sum_powers(x: Numbers, highest: float32) -> float32:
    """Return the sum of e^(x - highest) over n numbers."""
    total = ZERO
    for j in range(x.shape[0]):
        total += power_of_e(x[j] - highest)
    return total


@compile_loops
def subtract(x: Numbers, first: float32, second: float32) -> None:
    """Subtract one number after another from each of n numbers: their sum would be less exact."""
    for j in range(x.shape[0]):
        x[j] = (x[j] - first) - second
