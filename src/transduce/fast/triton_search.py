"""A decoding step's attention and the maxima of its log-probabilities on a GPU by Triton

The attention reads the addresses of the KV cache from a table on the device, so that one CUDA graph
serves every cache (layer_graph.py). torch's maxima of blocks of 64 symbols take ten times as
long as reading the log-probabilities.
"""

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int64
from torch import Tensor

from transduce.fast.kv_cache import StepTensors
from transduce.paper.operations import split_heads

# S sentences · W hypotheses of each · R = S W rows · H heads · K = d_k · n numbers of a table

LEAST_ROWS = 16  # the fewest rows of a product
SLOTS = 64  # the slots that a program reads at once
BLOCKS = 64  # the blocks of symbols that a program compares

# places in a table, after an address and four strides for each of four tensors
VISIBLE, SOURCE_MASK, SENTENCES = tl.constexpr(20), tl.constexpr(24), tl.constexpr(27)
TABLE_LENGTH = 28


def list_table(step: StepTensors) -> list[int]:
    """Return the addresses, strides and sizes of a decoding step's tensors."""
    sides = step.keys, step.values, step.memory_keys, step.memory_values
    numbers = [number for side in sides for number in (side.data_ptr(), *side.stride()[:4])]
    visible, mask = step.visible, step.memory_mask
    return [
        *numbers,
        *(visible.data_ptr(), *visible.stride()[:2], visible.shape[2]),
        *(mask.data_ptr(), mask.stride(0), mask.shape[3]),
        mask.shape[0],
    ]


@triton.jit
def locate(entry, layer, sentence, head, kind):  # type: ignore[no-untyped-def]
    """Return the address of a head's keys or values and the stride between slots, from a table.

    `entry` points to the tensor's address and strides in the table. `kind` is the type of its
    numbers. Heads have multiples of 16 numbers. Unless the compiler is told so, the kernels load
    the numbers one by one.
    """
    at = tl.load(entry).to(tl.pointer_type(kind))
    at += layer * tl.load(entry + 1) + sentence * tl.load(entry + 2) + head * tl.load(entry + 3)
    return tl.multiple_of(at, 16), tl.multiple_of(tl.load(entry + 4), 16)


@triton.jit
def append_rows(  # type: ignore[no-untyped-def]
    k_at, v_at, table_at, layer, width, k_row, v_row,
    K: tl.constexpr, V: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Write one head's keys and values of a sentence's W newest tokens into the newest slots."""
    sentence, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if sentence < tl.load(table_at + SENTENCES):
        row, k_column, v_column = tl.arange(0, ROWS), tl.arange(0, K), tl.arange(0, V)
        slot = tl.load(table_at + VISIBLE + 3) - width + row
        real = (row < width)[:, None]
        keys, k_slot = locate(table_at, layer, sentence, head, k_at.dtype.element_ty)
        values, v_slot = locate(table_at + 5, layer, sentence, head, v_at.dtype.element_ty)
        at = (sentence * width + row)[:, None]
        k = tl.load(k_at + at * k_row + head * K + k_column[None, :], mask=real)
        v = tl.load(v_at + at * v_row + head * V + v_column[None, :], mask=real)
        tl.store(keys + slot[:, None] * k_slot + k_column[None, :], k, mask=real)
        tl.store(values + slot[:, None] * v_slot + v_column[None, :], v, mask=real)


@triton.jit
def attend_rows(  # type: ignore[no-untyped-def] # noqa: PLR0915 - one kernel
    q_at, out_at, table_at, layer, width, scale, q_row, out_row, IS_SOURCE: tl.constexpr,
    K: tl.constexpr, V: tl.constexpr, ROWS: tl.constexpr, SLOTS: tl.constexpr,
):  # fmt: skip
    """Write softmax(Q Kᵀ / √d_k) V of a sentence's W newest tokens, for one head.

    The keys are those of the source if `IS_SOURCE`, else those of each token's own hypothesis.
    """
    sentence, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if sentence < tl.load(table_at + SENTENCES):
        kind = q_at.dtype.element_ty
        row, slot = tl.arange(0, ROWS), tl.arange(0, SLOTS)
        k_column, v_column = tl.arange(0, K), tl.arange(0, V)
        side = table_at + 10 if IS_SOURCE else table_at
        keys, k_slot = locate(side, layer, sentence, head, kind)
        values, v_slot = locate(side + 5, layer, sentence, head, kind)
        is_row, at = (row < width)[:, None], (sentence * width + row)[:, None]
        q = tl.load(q_at + at * q_row + head * K + k_column[None, :], mask=is_row, other=0.0)
        slots = tl.load(table_at + (SOURCE_MASK + 2 if IS_SOURCE else VISIBLE + 3))
        highest = tl.full((ROWS,), float("-inf"), tl.float32)
        total, out = tl.zeros((ROWS,), tl.float32), tl.zeros((ROWS, V), tl.float32)
        for first in range(0, slots, SLOTS):
            here = first + slot
            real = here < slots
            if IS_SOURCE:
                mask_at = tl.load(table_at + SOURCE_MASK).to(tl.pointer_type(kind))
                mask_at += sentence * tl.load(table_at + SOURCE_MASK + 1)
                is_read = tl.load(mask_at + here, mask=real, other=float("-inf")) == 0.0
                allowed = is_row & is_read[None, :]
            else:
                seen_at = tl.load(table_at + VISIBLE).to(tl.pointer_type(tl.int8))
                seen_at += sentence * tl.load(table_at + VISIBLE + 1)
                row_stride = tl.load(table_at + VISIBLE + 2)
                seen_at += row[:, None] * row_stride + here[None, :]
                seen = tl.load(seen_at, mask=is_row & real[None, :], other=0)
                allowed = seen != 0
                is_read = tl.max(seen, axis=0) != 0
            # a slot that no row may read can hold anything
            k = tl.load(
                keys + here[:, None] * k_slot + k_column[None, :], mask=is_read[:, None], other=0.0
            )
            v = tl.load(
                values + here[:, None] * v_slot + v_column[None, :],
                mask=is_read[:, None],
                other=0.0,
            )
            scores = tl.where(allowed, tl.dot(q, tl.trans(k)) * scale, float("-inf"))
            higher = tl.maximum(highest, tl.max(scores, axis=1))
            base = tl.where(higher == float("-inf"), 0.0, higher)
            weights = tl.exp(scores - base[:, None])
            shrink = tl.exp(highest - base)
            total = total * shrink + tl.sum(weights, axis=1)
            out = out * shrink[:, None] + tl.dot(weights.to(v.dtype), v)
            highest = higher
        out = out / total[:, None]
        tl.store(out_at + at * out_row + head * V + v_column[None, :], out.to(q.dtype), mask=is_row)


class TableLayer:
    """One layer's part of a KV cache in a decoding step, which kernels find through a table."""

    def __init__(
        self, table: Int64[Tensor, " n"], layer: int, width: int, values: int, heads: int
    ) -> None:
        self.table, self.layer, self.width = table, layer, width
        self.values, self.heads = values, heads  # `values`: the width of a head's value

    def split_heads(
        self, x: Float[Tensor, "R widths"], heads: int, widths: Sequence[int]
    ) -> list[Float[Tensor, "R H k"]]:
        """Split the newest tokens' projections into parts of these widths, and each into heads."""
        return split_heads(x, heads, widths)

    def append(self, k: Float[Tensor, "R H K"], v: Float[Tensor, "R H d_v"]) -> None:
        """Write the newest tokens' keys and values into the cache."""
        append_rows[(k.shape[0] // self.width, self.heads)](
            k, v, self.table, self.layer, self.width, k.stride(0), v.stride(0),
            K=k.shape[2], V=v.shape[2], ROWS=triton.next_power_of_2(self.width), num_warps=1,
        )  # fmt: skip

    def attend(self, q: Float[Tensor, "R H K"]) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its hypothesis; join the heads    (equation 1)"""
        return self.run(q, is_source=False)

    def attend_to_source(self, q: Float[Tensor, "R H K"]) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its source; join the heads    (equation 1)"""
        return self.run(q, is_source=True)

    def run(self, q: Float[Tensor, "R H K"], *, is_source: bool) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its source if `is_source`, else to its hypothesis."""
        out = q.new_empty(q.shape[0], self.heads * self.values)
        attend_rows[(q.shape[0] // self.width, self.heads)](
            q, out, self.table, self.layer, self.width, q.shape[2] ** -0.5, q.stride(0),
            out.stride(0), IS_SOURCE=is_source, K=q.shape[2], V=self.values,
            ROWS=max(LEAST_ROWS, triton.next_power_of_2(self.width)), SLOTS=SLOTS, num_warps=2,
        )  # fmt: skip
        return out


@triton.jit
def write_maxima(  # type: ignore[no-untyped-def]
    log_probs_at, maxima_at, row_stride, blocks, BLOCK: tl.constexpr, BLOCKS: tl.constexpr
):
    """Write the highest number in each block of a row, ignoring NaN; NaN if all are NaN."""
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCKS + tl.arange(0, BLOCKS)
    at = log_probs_at + row * row_stride + block[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = block < blocks
    some = tl.load(at, mask=inside[:, None], other=float("-inf"))
    is_number = some == some
    highest = tl.max(tl.where(is_number, some, float("-inf")), axis=1)
    has_number = tl.max(is_number.to(tl.int32), axis=1) > 0
    highest = tl.where(has_number, highest, float("nan"))
    tl.store(maxima_at + row * blocks + block, highest, mask=inside)


def find_block_maxima_by_triton(
    log_probs: Float[Tensor, "R V"], width: int, block: int
) -> Float[Tensor, "S W blocks"]:
    """Return the highest log p in each whole block of `block` symbols; NaN only if all are NaN."""
    rows, symbols = log_probs.shape
    blocks = symbols // block
    maxima = log_probs.new_empty(rows // width, width, blocks)
    write_maxima[(rows, triton.cdiv(blocks, BLOCKS))](
        log_probs, maxima, log_probs.stride(0), blocks, BLOCK=block, BLOCKS=BLOCKS, num_warps=4
    )
    return maxima


def try_kernels(device: torch.device) -> None:
    """Check the Triton kernel of block maxima on a small tensor; raise an error if it is wrong."""
    numbers = torch.arange(6.0, device=device).view(2, 3)
    found = find_block_maxima_by_triton(numbers, 1, block=2)
    torch.testing.assert_close(found, numbers[:, None, 1:2])
