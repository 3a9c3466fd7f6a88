"""Attention to a KV cache and log-softmax by compiled loops, as functions of tensors

torch computes a small product for each sentence and head, and waits for memory each time. The loops
read all keys and then all values, each once and in order, so that the processor prefetches what
follows (decision 0047).
"""

import numpy as np
import torch
from jaxtyping import Float
from numpy import float32, int16
from numpy.typing import NDArray
from torch import Tensor

from transduce.fast.softmax_loops import (
    POSITIONS_AT_ONCE,
    ROWS_AT_ONCE,
    attend,
    log_softmax_rows,
)

MOST_WEIGHTS = 2**20  # attention weights held at once (4 MB), unless one sentence has more

# S sentences · W hypotheses of each, R = S W · H heads · s positions or slots · K numbers of a key
# or query, D of a value · V symbols


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
    """Return the log-softmax of each row; overwrites logits that are contiguous."""
    logits = logits.contiguous()
    log_softmax_rows(logits.numpy())
    return logits
