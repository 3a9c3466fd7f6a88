"""Compiled loops of a search: attention to a KV cache, log-softmax, and the highest sums

torch computes a small product for each sentence and head, and waits for memory each time. The loops
of attention read all keys and then all values, each once and in order, so that the processor
prefetches what follows (decision 0047).
"""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload
from numpy import float32, int16, int32, int64
from numpy.typing import NDArray
from torch import Tensor

from transduce.fast.compiled_loops import compile_loops, compile_sums

# S sentences · W hypotheses of each, R = S W rows · H heads · s positions or slots · K numbers of a
# key or query, D of a value · V symbols, in B blocks and a rest · n numbers of a row

MOST_WEIGHTS = 2**20  # attention weights held at once (4 MB), unless one sentence has more
LOWEST = float32(-np.inf)

Numbers = NDArray[float32]
Indices = NDArray[int32]
# A tensor [S, H, _, K] as a flat array of its memory from its first element on, in float32 or as
# the bits of bfloat16, and its strides over sentences, heads and rows. The array is flat because
# loops of numba over a slice with strides are slow.
Strided = tuple[NDArray[float32] | NDArray[int16], tuple[int, int, int]]

POSITIONS_AT_ONCE = 4  # positions of a block; s must be a multiple of it
ROWS_AT_ONCE = 4  # hypotheses that are computed with each key or value that is read
LANES = 256  # maxima that are computed side by side
CACHE_LINE = 64  # bytes that a processor fetches at once

ZERO, HALF = float32(0), float32(0.5)
LOG2_E = float32(1 / math.log(2))
SMALLEST = float32(-127)  # 2^-127 and less become 0
EXPONENT_BIAS = int32(127)  # a float32 stores its exponent plus this number,
EXPONENT_SHIFT = int32(23)  # from this bit on
BFLOAT16_SHIFT = int32(16)  # the bits of bfloat16 are the upper ones of float32
# The Taylor series of 2^f, from f⁰ to f⁶: within 2 · 10⁻⁷ of it for f from -1/2 to 1/2.
T0, T1, T2, T3, T4, T5, T6 = (float32(math.log(2) ** n / math.factorial(n)) for n in range(7))


def attend_by_loops(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s D"],
    mask: Float[Tensor, "S 1 #W s"],
) -> Float[Tensor, "S W HD"]:
    """Compute attention from each hypothesis to its sentence's keys and values    (equation 1)

    The mask is 0 or -inf. Everything is computed in float32, also for tensors in bfloat16.
    """
    sentences, heads, width, key_width = q.shape
    value_width = v.shape[3]
    assert k.shape[2] % POSITIONS_AT_ONCE == 0, "a loop would read beyond the last position"
    sizes = sentences, heads, mask.shape[3]
    assert k.shape[:3] == v.shape[:3] == sizes, "a loop would read beyond keys or values"
    assert mask.shape[0] == sentences, "a loop would read beyond the masks"
    assert q.stride(3) == 1, "the numbers of a query lie apart"
    assert k.stride()[2:] == (key_width, 1), "the keys of a head lie apart"
    assert v.stride()[2:] == (value_width, 1), "the values of a head lie apart"
    rows = -(-width // ROWS_AT_ONCE) * ROWS_AT_ONCE
    out = q.new_empty(sentences, rows, heads, value_width, dtype=torch.float32)
    sides = tuple((view_memory(one), one.stride()[:3]) for one in (q.float(), k, v))
    hidden = mask[:, 0].float().contiguous().numpy()
    group = min(sentences, max(1, MOST_WEIGHTS // (heads * rows * k.shape[2])))
    weights = np.empty((group, heads, rows * k.shape[2]), float32)
    attend(sides, hidden, (width, key_width), weights, out.numpy())
    return out[:, :width].to(q.dtype).contiguous().flatten(2)  # without the added rows


# As an operator of torch it can be part of a graph of the layers (layer_graph.py).
SIGNATURE = "(Tensor q, Tensor k, Tensor v, Tensor mask) -> Tensor"
torch.library.define("transduce::attend_by_loops", SIGNATURE)
torch.library.impl("transduce::attend_by_loops", "cpu", attend_by_loops)
LOOP_OPERATOR = torch.ops.transduce.attend_by_loops.default


def view_memory(x: Tensor) -> NDArray[float32] | NDArray[int16]:
    """View a tensor's memory from its first element on as a flat array; bfloat16 as int16."""
    count = x.untyped_storage().nbytes() // x.element_size() - x.storage_offset()
    bits = x.view(torch.int16) if x.dtype == torch.bfloat16 else x
    return bits.as_strided((int(count),), (1,)).numpy()


def log_softmax_by_loops(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:
    """Return the log-softmax of each row, on a CPU; overwrites logits that are contiguous."""
    logits = logits.contiguous()
    log_softmax_rows(logits.numpy())
    return logits


# --- Loops around a softmax -----------------------------------------------------------------------


@intrinsic
def prefetch_line(_: Any, numbers: Any, at: Any) -> Any:  # noqa: ANN401
    """Numba intrinsic prefetch_line(numbers, at): prefetch the cache line that has numbers[at]."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        array = context.make_array(signature.args[0])(context, builder, values[0])
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(array.data, [values[1]]), pointer)
        shape = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], shape)
        to_read, second_cache, data = number(0), number(2), number(1)
        builder.call(prefetch, [address, to_read, second_cache, data])
        return context.get_dummy_value()

    return types.void(numbers, at), build


def widen(x: float32 | int16) -> float32:
    """Convert a float32 or the bits of a bfloat16 to float32; only compiled loops can call it."""
    raise NotImplementedError


@overload(widen)
def compile_widen(x):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 # numba wants no types
    """Return the function that numba compiles for calls of `widen` with the type of x."""
    if x == types.float32:
        return lambda x: x
    return lambda x: int32(int32(x) << BFLOAT16_SHIFT).view(float32)


@compile_sums
def power_of_e(x: float32) -> float32:
    """Return e^x for x <= 0, computed as 2^i · 2^f with an integer i and f from -1/2 to 1/2.

    i sets the bits of the exponent, and a Taylor series gives 2^f.
    """
    y = x * LOG2_E
    y = SMALLEST if y < SMALLEST else y  # NaN stays
    number = ZERO if np.isnan(y) else y  # NaN is no integer
    i = int32(number - HALF)  # the nearest integer, since int32 rounds towards 0
    f = y - float32(i)
    series = (((((T6 * f + T5) * f + T4) * f + T3) * f + T2) * f + T1) * f + T0
    return series * int32((i + EXPONENT_BIAS) << EXPONENT_SHIFT).view(float32)


@compile_sums
def attend(
    sides: tuple[Strided, Strided, Strided],
    mask: Numbers,
    sizes: tuple[int, int],
    weights: Numbers,
    out: Numbers,
) -> None:
    """Write the attention of all sentences, hypotheses and heads to `out`    (equation 1)

    `sides` are queries, keys and values, and `sizes` are W and K. `weights` is scratch memory for
    the sentences that are computed together. The number of rows of `out` is a multiple of four;
    rows after the first W belong to no hypothesis.
    """
    (q, q_strides), keys, values = sides
    (k, k_strides), (v, v_strides) = keys, values
    (sentences, _, heads, value_width), key_width = out.shape, sizes[1]
    blocks, counts = list_visible_blocks(mask)
    for first in range(0, sentences, weights.shape[0]):
        together = range(first, min(first + weights.shape[0], sentences))
        # all keys before all values: two streams read in turn have half the rate of one
        for s in together:
            some = blocks[s, : counts[s]]
            for h in range(heads):
                prefetch_head(keys, s * heads + h + 1, heads, key_width, blocks, counts)
                queries_of_head = q[s * q_strides[0] + h * q_strides[1] :]
                keys_of_head = k[s * k_strides[0] + h * k_strides[1] :]
                scores = weights[s - first, h]
                score_positions(queries_of_head, q_strides[2], sizes, keys_of_head, some, scores)
                masked_softmax(scores, mask[s], sizes, some)
        for s in together:
            some = blocks[s, : counts[s]]
            for h in range(heads):
                prefetch_head(values, s * heads + h + 1, heads, value_width, blocks, counts)
                values_of_head = v[s * v_strides[0] + h * v_strides[1] :]
                add_up_values(weights[s - first, h], values_of_head, some, h, out[s])


@compile_loops
def list_visible_blocks(mask: Numbers) -> tuple[Indices, Indices]:
    """Return the indices of the blocks of positions that each sentence reads, and their counts.

    A sentence that reads over half of its blocks gets all: memory is read faster without gaps.
    """
    (sentences, width), count = mask.shape[:2], mask.shape[2] // POSITIONS_AT_ONCE
    every, blocks = np.arange(count), np.empty((sentences, count), int32)
    counts = np.zeros(sentences, int32)
    for s in range(sentences):
        for block in range(count):
            first, is_visible = block * POSITIONS_AT_ONCE, False
            for w in range(width):
                for j in range(first, first + POSITIONS_AT_ONCE):
                    is_visible |= mask[s, w, j] == ZERO
            blocks[s, counts[s]] = block
            counts[s] += is_visible
        if 2 * counts[s] > count:
            counts[s], blocks[s] = count, every
    return blocks, counts


@compile_loops
def prefetch_head(
    side: Strided, turn: int, heads: int, width: int, blocks: Indices, counts: Indices
) -> None:
    """Prefetch the keys or values of head `turn`, unless its sentence reads all blocks.

    `turn` is sentence · heads + head; after the last head nothing is prefetched. If all blocks are
    read, the processor itself prefetches, and faster.
    """
    numbers, strides = side
    s, h = divmod(turn, heads)
    if s == counts.shape[0] or counts[s] == blocks.shape[1]:
        return
    size = POSITIONS_AT_ONCE * width
    for block in blocks[s, : counts[s]]:
        first = s * strides[0] + h * strides[1] + block * size
        for at in range(first, first + size, CACHE_LINE // numbers.itemsize):
            prefetch_line(numbers, at)  # type: ignore[call-arg] # numba gives the first one


@compile_sums
def score_positions(
    q: Numbers, step: int, sizes: tuple[int, int], keys: Numbers, blocks: Indices, scores: Numbers
) -> None:
    """Write the dot products of W queries with the keys of `blocks` to `scores`.

    Queries start `step` numbers apart. Four queries and two keys are computed at once. If W is not
    a multiple of four, the last query is repeated.
    """
    (width, key_width), count = sizes, blocks.shape[0] * POSITIONS_AT_ONCE
    for w in range(0, width, ROWS_AT_ONCE):
        q0, q1 = q[w * step :], q[min(w + 1, width - 1) * step :]
        q2, q3 = q[min(w + 2, width - 1) * step :], q[min(w + 3, width - 1) * step :]
        r0, r1 = scores[w * count :], scores[(w + 1) * count :]
        r2, r3 = scores[(w + 2) * count :], scores[(w + 3) * count :]
        for j in range(0, count, 2):
            block, inside = divmod(j, POSITIONS_AT_ONCE)
            at = (blocks[block] * POSITIONS_AT_ONCE + inside) * key_width
            k0, k1 = keys[at:], keys[at + key_width :]
            a0, a1, b0, b1, c0, c1, d0, d1 = ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
            for d in range(key_width):
                x, y = widen(k0[d]), widen(k1[d])
                a0 += q0[d] * x
                a1 += q0[d] * y
                b0 += q1[d] * x
                b1 += q1[d] * y
                c0 += q2[d] * x
                c1 += q2[d] * y
                d0 += q3[d] * x
                d1 += q3[d] * y
            r0[j], r0[j + 1], r1[j], r1[j + 1] = a0, a1, b0, b1
            r2[j], r2[j + 1], r3[j], r3[j + 1] = c0, c1, d0, d1


@compile_sums
def masked_softmax(scores: Numbers, mask: Numbers, sizes: tuple[int, int], blocks: Indices) -> None:
    """Replace the scores of W hypotheses by the softmax of scores / √K; masked positions get 0."""
    (width, key_width), count = sizes, blocks.shape[0] * POSITIONS_AT_ONCE
    scale = float32(1 / math.sqrt(key_width))
    for w in range(width):
        row = scores[w * count : (w + 1) * count]
        mask_scores(row, scale, mask[w if mask.shape[0] > 1 else 0], blocks)
    for j in range(width * count):
        scores[j] = power_of_e(scores[j])
    for w in range(width):
        row = scores[w * count : (w + 1) * count]
        total = ZERO
        for j in range(count):
            total += row[j]
        factor = float32(1) / total
        for j in range(count):
            row[j] *= factor


@compile_sums
def mask_scores(row: Numbers, scale: float32, mask: Numbers, blocks: Indices) -> None:
    """Scale and mask a row's scores in place, then subtract the highest of them."""
    for block in range(blocks.shape[0]):
        at, first = block * POSITIONS_AT_ONCE, blocks[block] * POSITIONS_AT_ONCE
        for j in range(POSITIONS_AT_ONCE):
            row[at + j] = row[at + j] * scale + mask[first + j]
    highest = float32(-np.inf)
    for j in range(row.shape[0]):
        highest = max(highest, row[j])
    for j in range(row.shape[0]):
        row[j] -= highest


@compile_sums
def add_up_values(weights: Numbers, values: Numbers, blocks: Indices, h: int, out: Numbers) -> None:
    """Write each hypothesis' weighted sum of the values of `blocks` to `out`, for head h.

    Four hypotheses and four values are computed at once.
    """
    (rows, _, value_width), count = out.shape, blocks.shape[0] * POSITIONS_AT_ONCE
    for w in range(0, rows, ROWS_AT_ONCE):
        s0, s1, s2, s3 = out[w, h], out[w + 1, h], out[w + 2, h], out[w + 3, h]
        s0[:], s1[:], s2[:], s3[:] = ZERO, ZERO, ZERO, ZERO
        p, q = weights[w * count :], weights[(w + 1) * count :]
        r, t = weights[(w + 2) * count :], weights[(w + 3) * count :]
        for block in range(blocks.shape[0]):
            at, j = blocks[block] * POSITIONS_AT_ONCE * value_width, block * POSITIONS_AT_ONCE
            v0, v1 = values[at:], values[at + value_width :]
            v2, v3 = values[at + 2 * value_width :], values[at + 3 * value_width :]
            p0, p1, p2, p3 = p[j], p[j + 1], p[j + 2], p[j + 3]
            q0, q1, q2, q3 = q[j], q[j + 1], q[j + 2], q[j + 3]
            r0, r1, r2, r3 = r[j], r[j + 1], r[j + 2], r[j + 3]
            t0, t1, t2, t3 = t[j], t[j + 1], t[j + 2], t[j + 3]
            for d in range(value_width):
                a, b, c, e = widen(v0[d]), widen(v1[d]), widen(v2[d]), widen(v3[d])
                s0[d] += p0 * a + p1 * b + p2 * c + p3 * e
                s1[d] += q0 * a + q1 * b + q2 * c + q3 * e
                s2[d] += r0 * a + r1 * b + r2 * c + r3 * e
                s3[d] += t0 * a + t1 * b + t2 * c + t3 * e


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
    """Return the highest of n numbers, ignoring NaN; `lanes` is scratch memory for LANES maxima."""
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
    """Subtract `first`, then `second`, from n numbers in place.

    This is more exact than subtracting their sum.
    """
    for j in range(x.shape[0]):
        x[j] = (x[j] - first) - second


# --- The highest sums -----------------------------------------------------------------------------


@compile_loops
def fill_highest_sums(
    scores: NDArray[float32],
    log_probs: NDArray[float32],
    maxima: NDArray[float32],
    block: int,
    sums: NDArray[float32],
    columns: NDArray[int64],
) -> bool:
    """Fill in each sentence's K highest sums and columns w * V + id; return whether all have K.

    A sum is score + log P. The highest comes first, and the leftmost of equal ones. NaN does not
    count. Only blocks whose highest sum may be among the K are read.
    """
    width, symbols, blocks = scores.shape[1], log_probs.shape[1], maxima.shape[2]
    limits, unused = np.empty(sums.shape[1], float32), np.empty(sums.shape[1], int64)
    is_full = True
    for s in range(scores.shape[0]):
        found = 0
        for w in range(width):
            found = insert_highest(maxima[s, w], scores[s, w], 0, limits, unused, found)
        # A block with a lower maximum has none of the K highest.
        limit = limits[-1] if found == limits.shape[0] else LOWEST
        found = 0
        for w in range(width):
            row, score, best = log_probs[s * width + w], scores[s, w], maxima[s, w]
            first = w * symbols
            for b in range(blocks):
                if best[b] + score >= limit:
                    part = row[b * block : (b + 1) * block]
                    found = insert_highest(
                        part, score, first + b * block, sums[s], columns[s], found
                    )
            rest = row[blocks * block :]
            found = insert_highest(rest, score, first + blocks * block, sums[s], columns[s], found)
        is_full &= found == sums.shape[1]
    return is_full


@compile_loops
def insert_highest(
    numbers: NDArray[float32],
    score: float32,
    first: int,
    best: NDArray[float32],
    columns: NDArray[int64],
    found: int,
) -> int:
    """Insert each number + `score` in `best`, which has `found` sums; return the new `found`.

    `best` is sorted; sums that have no room are dropped. `columns` gets the sums' columns, and
    `first` is the first number's column. A sum goes after equal ones. NaN is left out.
    """
    kept = best.shape[0]
    lowest = best[kept - 1] if found == kept else LOWEST
    for j in range(numbers.shape[0]):
        value = numbers[j] + score
        if value > lowest or (found < kept and not np.isnan(value)):
            at = min(found, kept - 1)
            while at > 0 and best[at - 1] < value:
                best[at], columns[at] = best[at - 1], columns[at - 1]
                at -= 1
            best[at], columns[at] = value, first + j
            found = min(found + 1, kept)
            lowest = best[kept - 1] if found == kept else LOWEST
    return found
