"""Compiled loops for attention to a KV cache, which read each key and value once, in their order

A product of a library for each sentence and head waits for memory; these loops let the processor
fetch what follows (decision 0047).
"""

import math

import numpy as np
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
    sentences, heads, width, key_width = q.shape
    out = q.new_empty(sentences, width, heads, v.shape[3])
    queries, keys, values = ((view_from_first(one), one.stride()[:3]) for one in (q, k, v))
    attend(queries, keys, values, mask[:, 0].numpy(), key_width, out.numpy())
    return out.flatten(2)


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
    sentences, width, heads, _ = out.shape
    scale = float32(1 / math.sqrt(key_width))
    query = np.empty(key_width, float32)
    weights = np.empty((width, mask.shape[2]), float32)
    for s in range(sentences):
        for h in range(heads):
            some_keys = k[s * k_strides[0] + h * k_strides[1] :]
            some_values = v[s * v_strides[0] + h * v_strides[1] :]
            for w in range(width):
                at = s * q_strides[0] + h * q_strides[1] + w * q_strides[2]
                copy_scaled(q[at : at + key_width], scale, query)
                hidden = mask[s, w if mask.shape[1] > 1 else 0]
                score_positions(query, some_keys, hidden, weights[w])
            for w in range(width):
                softmax(weights[w])
            for w in range(width):
                add_up_values(weights[w], some_values, out[s, w, h])


@compile_loops
def copy_scaled(x: Numbers, factor: float32, into: Numbers) -> None:
    """Write x times a factor to another array."""
    for d in range(x.shape[0]):
        into[d] = x[d] * factor


@compile_loops
def score_positions(query: Numbers, keys: Numbers, hidden: Numbers, scores: Numbers) -> None:
    """Write the product of a query with each key, four at once, or -inf where it is hidden."""
    width = query.shape[0]
    for j in range(0, scores.shape[0], POSITIONS_AT_ONCE):
        at = j * width
        k0, k1 = keys[at : at + width], keys[at + width : at + 2 * width]
        k2, k3 = keys[at + 2 * width : at + 3 * width], keys[at + 3 * width : at + 4 * width]
        s0, s1, s2, s3 = ZERO, ZERO, ZERO, ZERO
        for d in range(width):
            number = query[d]
            s0 += number * k0[d]
            s1 += number * k1[d]
            s2 += number * k2[d]
            s3 += number * k3[d]
        scores[j], scores[j + 1] = s0 + hidden[j], s1 + hidden[j + 1]
        scores[j + 2], scores[j + 3] = s2 + hidden[j + 2], s3 + hidden[j + 3]


@compile_loops
def add_up_values(weights: Numbers, values: Numbers, out: Numbers) -> None:
    """Write the sum of the values, each times its weight: four at once."""
    width = out.shape[0]
    out[:] = ZERO
    for j in range(0, weights.shape[0], POSITIONS_AT_ONCE):
        at = j * width
        v0, v1 = values[at : at + width], values[at + width : at + 2 * width]
        v2, v3 = values[at + 2 * width : at + 3 * width], values[at + 3 * width : at + 4 * width]
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for d in range(width):
            out[d] += w0 * v0[d] + w1 * v1[d] + w2 * v2[d] + w3 * v3[d]
