"""Compiled loops for attention to a KV cache, which read each key and value once, in their order

A product of a library for each sentence and head waits for memory; these loops let the processor
fetch what follows (decision 0047).
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from numpy import float32
from numpy.typing import NDArray
from torch import Tensor

from transduce.machine.compiled_loops import compile_loops
from transduce.model.decoding.softmax_loops import ZERO, softmax

# S sentences · W hypotheses of each · H heads · s positions or slots · K numbers of a key or query,
# D of a value

POSITIONS_AT_ONCE = 4  # s must be a multiple of it

# The numbers of a tensor [S, H, _, K] in memory, and its distances between sentences, heads and
# what follows: a slice of it is no array of one piece, and loops over others are slow.
Numbers = NDArray[float32]
Rows = tuple[Numbers, tuple[int, int, int]]


def attend_by_loops(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s D"],
    mask: Float[Tensor, "S 1 #W s"],
) -> Float[Tensor, "S W HD"]:
    """Compute attention from each hypothesis to its sentence's keys and values    (equation 1)

    The numbers of a query, key or value lie side by side.
    """
    assert k.shape[2] % POSITIONS_AT_ONCE == 0, "a loop would read beyond the last position"
    sentences, heads, width, key_width = q.shape
    out = q.new_empty(sentences, width, heads, v.shape[3])
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


@compile_loops
def attend(
    queries: Rows, keys: Rows, values: Rows, mask: Numbers, key_width: int, out: Numbers
) -> None:
    """Write the attention of all sentences, hypotheses and heads to `out`    (equation 1)"""
    (q, q_strides), (k, k_strides), (v, v_strides) = queries, keys, values
    sentences, width, heads, value_width = out.shape
    scale = float32(1 / math.sqrt(key_width))
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
            for w in range(0, width, 2):  # two at once; the last one may be without a neighbour
                score_positions(scaled[w], scaled[w + 1], some_keys, weights[w], weights[w + 1])
            for w in range(width):
                hide_and_normalise(weights[w], mask[s, w if mask.shape[1] > 1 else 0])
            for w in range(0, width, 2):
                beside = out[s, w + 1, h] if w + 1 < width else unused
                add_up_values(weights[w], weights[w + 1], some_values, out[s, w, h], beside)


@compile_loops
def copy_scaled(x: Numbers, factor: float32, into: Numbers) -> None:
    """Write x times a factor to another array."""
    for d in range(x.shape[0]):
        into[d] = x[d] * factor


@compile_loops
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


@compile_loops
def hide_and_normalise(scores: Numbers, hidden: Numbers) -> None:
    """Replace scores, where `hidden` is 0 and not -inf, by their softmax, and others by 0."""
    for j in range(scores.shape[0]):
        scores[j] += hidden[j]
    softmax(scores)


@compile_loops
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
