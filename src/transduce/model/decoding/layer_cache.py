"""One layer's view of the KV cache in one decoding step."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from transduce.machine.compiled_loops import MANY_ROWS, uses_compiled_loops
from transduce.model.onednn import has_onednn_bfloat16

# N layers · S sentences · W rows (hypotheses) of each, R = S W · H heads · K = d_k
# h heads with keys of k and values of v numbers, as the layer's `cache_shape` says · s source
# positions · c slots, of which the last W are this step's

UNLIMITED_REACH = 1 << 62  # the reach of a layer that reads all earlier steps


class CacheShape(NamedTuple):
    """What a layer caches per token: a number of heads, and the widths of a key and a value."""

    heads: int
    key_width: int
    value_width: int


class StepTensors(NamedTuple):
    """What the layers read and write in the KV cache in one decoding step, of all layers."""

    keys: Float[Tensor, "N S h read k"]
    values: Float[Tensor, "N S h read v"]
    new_keys: Float[Tensor, "N S h W k"]  # the parts of `keys` and `values` for this step's tokens
    new_values: Float[Tensor, "N S h W v"]
    visible: Bool[Tensor, "S W c"]
    positions: Int[Tensor, "S c"]
    current: Int[Tensor, " S"]
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_mask: Float[Tensor, "S 1 1 s"]


@final
@dataclass(frozen=True)
class StepSlots:
    """Which slots of the KV cache each hypothesis may read in one decoding step, in all layers."""

    visible: Bool[Tensor, "S W c"]  # True for slots of a row's own history and its newest slot
    positions: Int[Tensor, "S c"]  # position of each slot's token in its output
    current: Int[Tensor, " S"]  # the position of this step's tokens
    keys: Float[Tensor, "N S h read k"]  # attention reads c slots, rounded up; the rest is masked
    sentences: int  # S, read once in a step: in a graph each reading is an operator

    @cached_property
    def mask(self) -> Float[Tensor, "S 1 W read"]:
        """The mask to add to scores: -inf for the slots that each of W hypotheses may not read."""
        width, slots = self.visible.shape[1:]
        shape = (self.sentences, 1, width, self.keys.shape[3])
        mask = self.keys.new_full(shape, -math.inf)
        mask[:, 0, :, :slots].masked_fill_(self.visible, 0)
        return mask


@final
@dataclass(frozen=True)
class LayerCache:
    """One layer's keys and values in the KV cache, to write and to read in one decoding step.

    Self-attention stores keys and values; a recurrent layer stores its two states; a convolution
    stores its inputs as keys, and values of width 0.
    """

    keys: Float[Tensor, "S H read K"]
    values: Float[Tensor, "S H read d_v"]
    new_keys: Float[Tensor, "S H W K"]  # the parts of `keys` and `values` for this step's tokens
    new_values: Float[Tensor, "S H W d_v"]
    slots: StepSlots

    def append(self, keys: Float[Tensor, "S H W K"], values: Float[Tensor, "S H W d_v"]) -> None:
        """Write the key and value of each hypothesis' newest token into the cache."""
        self.new_keys.copy_(keys)
        self.new_values.copy_(values)

    def group_by_sentence(self, x: Float[Tensor, "R d"]) -> Float[Tensor, "S 1 W d"]:
        """Group R = S W hypotheses' vectors by sentence, as in the cache: [S, one head, W, d]."""
        return x.view(self.slots.sentences, 1, -1, x.shape[1])

    def read_back(self, side: Float[Tensor, "S 1 _ d"], steps: int) -> Float[Tensor, "R d"]:
        """Return what R hypotheses wrote into the keys or values (`side`) `steps` steps ago.

        A hypothesis with fewer steps gets zeros.
        """
        slots = self.slots
        at = slots.visible & (slots.positions == (slots.current - steps)[:, None])[:, None]
        index = at.byte().argmax(dim=2)[..., None].expand(-1, -1, side.shape[3])
        stored = side[:, 0].gather(1, index) * at.any(dim=2)[..., None]
        return stored.flatten(0, 1)

    def attend(self, q: Float[Tensor, "S H W K"], width: int) -> Float[Tensor, "R Hd_v"]:
        """Attend from each of R = S W hypotheses to its own history; `width` is H d_v    (1)"""
        return attend_to_cache(q, self.keys, self.values, self.slots.mask, width)


@final
@dataclass(frozen=True)
class CachedMemory:
    """One layer's keys and values of the encoder's output, for cross-attention."""

    keys: Float[Tensor, "S H s K"]
    values: Float[Tensor, "S H s d_v"]
    mask: Float[Tensor, "S 1 1 s"]  # -inf past a source's end
    sentences: int  # S


def attend_to_cache(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s d_v"],
    mask: Float[Tensor, "S 1 #W s"],
    width: int,
) -> Float[Tensor, "R Hd_v"]:
    """Attend from R hypotheses, each to the s cached positions of its sentence    (equation 1)

    The mask is 0 or -inf. `width` is H d_v: it is known beforehand, and to read a shape is an
    operator in a graph.
    """
    if is_faster_by_loops(q):
        from transduce.model.decoding.loop_operators import LOOP_OPERATOR

        return LOOP_OPERATOR(q, k, v, mask).view(-1, width)
    if is_faster_as_products(q):
        out = attend_by_products(q, k, v, mask)
    else:
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(-1, width)


def is_faster_by_loops(q: Float[Tensor, "S H W K"]) -> bool:
    """Return whether attention is faster by compiled loops: on a CPU, with many rows."""
    return uses_compiled_loops(q, q.shape[0] * q.shape[2])


def is_faster_as_products(q: Float[Tensor, "S H W K"]) -> bool:
    """Return whether attention is faster as two products: in bfloat16 by oneDNN, with many rows."""
    if q.dtype != torch.bfloat16 or q.device.type != "cpu":
        return False
    return q.shape[0] * q.shape[2] >= MANY_ROWS and has_onednn_bfloat16()


def attend_by_products(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s d_v"],
    mask: Float[Tensor, "S 1 #W s"],
) -> Float[Tensor, "S H W d_v"]:
    """Compute attention as two products around a softmax in float32    (equation 1)

    A product takes all sentences and heads in one kernel; torch's one function starts small
    products for each of them (decision 0033).
    """
    scores = torch.add(mask.float(), q @ k.transpose(2, 3), alpha=1 / math.sqrt(q.shape[3]))
    return scores.softmax(dim=3).to(v.dtype) @ v


def build_additive_mask(hidden: Bool[Tensor, "..."], dtype: torch.dtype) -> Float[Tensor, "..."]:
    """Return a mask to add to attention scores: -inf where `hidden`, else 0."""
    zeros = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
    return zeros.masked_fill_(hidden, -math.inf)
