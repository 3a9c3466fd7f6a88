"""The KV cache of incremental decoding: keys and values of all layers in few tensors    (3.1)

Every row is a hypothesis. Each step writes the key and value of each row into a new slot of its
sentence. Stored slots never move when rows are reordered: each row has a mask that marks its own
history among the slots of its sentence. When all slots are full, or two caches are concatenated,
the slots in no row's history are evicted. A finished sentence frees its part of the tensors for
another. The keys and values of the encoder's output are stored once per sentence.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from transduce.fast.compiled_loops import MANY_ROWS, has_rows_for_loops
from transduce.fast.onednn import has_onednn_bfloat16
from transduce.machine.device import convert_to_lists
from transduce.packed import move_to_device

# N layers · S sentences · W rows of each, R = S W · H heads · K = d_k · s source positions
# c slots, the last W for this step's tokens · T source tokens of all sentences

SPARE_STEPS = 4  # number of further steps that `compact` allocates slots for
SLOT_MULTIPLE = 16  # a softmax over a multiple of 16 slots is up to twice as fast

# (q [S H W K], k [S H s K], v [S H s d_v], additive mask [S 1 #W s], H d_v) → [R H d_v]
AttendCached = Callable[[Tensor, Tensor, Tensor, Tensor, int], Tensor]


@final
@dataclass(frozen=True)
class KVCache:
    """The state of incremental decoding: keys and values of earlier steps and of the sources.

    A step writes into free capacity of the cache that it extends, and `keep_sentences` overwrites
    finished sentences, so only the newest cache may be used afterwards.
    """

    keys: Float[Tensor, "N S H capacity K"]
    values: Float[Tensor, "N S H capacity d_v"]
    visible: Bool[Tensor, "S W c"]  # the written slots that are in a row's own history
    positions: Int[Tensor, "S c"]  # position of each slot's token in its output
    lengths: Int[Tensor, " S"]  # number of tokens of each output so far
    longest: int  # the largest of `lengths`
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_mask: Float[Tensor, "S 1 1 s"]  # -inf past a source's end
    attend: AttendCached  # the function that computes attention to this cache

    @property
    def next_positions(self) -> Int[Tensor, " R"]:
        """The position of each hypothesis' next token."""
        return self.lengths.repeat_interleave(self.visible.shape[1])

    @property
    def slot_count(self) -> int:
        """The number of slots (each for one token) written so far, the same for every sentence."""
        return self.visible.shape[2]

    def reorder(self, rows: Int[Tensor, " R2"]) -> "KVCache":
        """Return the cache of the hypotheses with these row indices (at least one), in this order.

        The rows of a sentence must be contiguous, and sentences keep their order unless some are
        dropped. Each sentence keeps its number of rows, unless all sentences had a single row.
        """
        sentences, width = self.visible.shape[:2]
        if width > 1 and rows.shape[0] == sentences * width:
            cache = self
        else:
            wanted = rows[::width] // width if width > 1 else rows.unique_consecutive()
            cache = self if wanted.shape[0] == sentences else self.keep_sentences(wanted)
        parents = (rows % width).view(cache.visible.shape[0], -1, 1)
        visible = cache.visible.gather(1, parents.expand(-1, -1, cache.slot_count))
        return replace(cache, visible=visible)

    def keep_sentences(self, sentences: Int[Tensor, " S2"]) -> "KVCache":
        """Return the cache of the sentences with these indices; may overwrite the old cache."""
        count, mask, lengths = len(sentences), self.memory_mask[sentences], self.lengths[sentences]
        source_lengths = (mask == 0).sum(dim=-1).flatten()
        kept, tokens, source_tokens = convert_to_lists([sentences, lengths, source_lengths])
        longest_source = round_up_slots(max(source_tokens))
        moves = {new: old for new, old in enumerate(kept) if new != old}
        move_sentences((self.keys, self.values, self.memory_keys, self.memory_values), moves)
        return KVCache(
            keys=self.keys[:, :count],
            values=self.values[:, :count],
            visible=self.visible[sentences],
            positions=self.positions[sentences],
            lengths=lengths,
            longest=max(tokens),
            memory_keys=self.memory_keys[:, :count, :, :longest_source],
            memory_values=self.memory_values[:, :count, :, :longest_source],
            memory_mask=mask[..., :longest_source],
            attend=self.attend,
        )

    def compact(self) -> "KVCache":
        """Return the cache without slots that no hypothesis may read, with room for more steps."""
        keys, values, visible, positions = copy_live_slots([self])
        return replace(self, keys=keys, values=values, visible=visible, positions=positions)

    def find_live_slots(self) -> Int[Tensor, "S kept"]:
        """Return the indices of each sentence's slots that a hypothesis may still read.

        A sentence with fewer such slots than another is filled up with hidden slots.
        """
        live = self.visible.any(dim=1)  # [S c]
        kept = int(live.sum(dim=1).max()) if live.numel() else 0
        return live.byte().argsort(dim=1, descending=True, stable=True)[:, :kept]

    def begin_step(self, reach: int | None) -> "KVCache":
        """Return the cache with a slot per new token; hide tokens more than `reach` positions back.

        Nothing is hidden if `reach` is None.
        """
        sentences, width, slots = self.visible.shape
        cache = self.compact() if slots + width > self.keys.shape[3] else self
        own = torch.eye(width, dtype=torch.bool, device=cache.visible.device)
        visible = torch.cat([cache.visible, own.expand(sentences, -1, -1)], dim=2)
        new = cache.lengths[:, None].expand(-1, width)
        positions = torch.cat([cache.positions, new], dim=1)
        if reach is not None:
            visible &= (positions >= (cache.lengths - reach)[:, None])[:, None]
        return replace(cache, visible=visible, positions=positions)

    def layer_caches(self) -> "CacheStep":
        """Return the parts of the cache that the layers of one decoding step read and write."""
        written, width = self.slot_count, self.visible.shape[1]
        read, newest = round_up_slots(written), slice(written - width, written)
        tensors = StepTensors(
            keys=self.keys[:, :, :, :read],
            values=self.values[:, :, :, :read],
            new_keys=self.keys[:, :, :, newest],
            new_values=self.values[:, :, :, newest],
            visible=self.visible,
            memory_keys=self.memory_keys,
            memory_values=self.memory_values,
            memory_mask=self.memory_mask,
        )
        return CacheStep(tensors, self.attend)

    def advance(self) -> "KVCache":
        """Return the cache after a step, with every hypothesis one token longer."""
        return replace(self, lengths=self.lengths + 1, longest=self.longest + 1)

    def concatenate(self, other: "KVCache") -> "KVCache":
        """Return one cache with the hypotheses of this cache, then those of `other`."""
        both = self, other
        keys, values, visible, positions = copy_live_slots(both)
        return KVCache(
            keys=keys,
            values=values,
            visible=visible,
            positions=positions,
            lengths=torch.cat([self.lengths, other.lengths]),
            longest=max(self.longest, other.longest),
            memory_keys=concatenate_padded([cache.memory_keys for cache in both], dim=1),
            memory_values=concatenate_padded([cache.memory_values for cache in both], dim=1),
            memory_mask=concatenate_padded([cache.memory_mask for cache in both], -math.inf),
            attend=self.attend,
        )


def move_sentences(sides: Sequence[Float[Tensor, "N S _ _ _"]], moves: Mapping[int, int]) -> None:
    """Copy sentences' keys and values in place; `moves` maps new indices to old ones.

    Few sentences move at once. On a CPU, copying them one by one takes a fifth of the time of
    indexing.
    """
    if sides[0].device.type == "cpu" and moves.keys().isdisjoint(moves.values()):
        for side in sides:
            for new, old in moves.items():
                side.select(1, new).copy_(side.select(1, old))
    elif moves:
        into, origin = move_to_device(torch.tensor([*moves.items()]).t(), sides[0].device)
        for side in sides:
            side[:, into] = side[:, origin]


def copy_live_slots(
    caches: Sequence[KVCache],
) -> tuple[
    Float[Tensor, "N S H capacity K"],
    Float[Tensor, "N S H capacity d_v"],
    Bool[Tensor, "S W kept"],
    Int[Tensor, "S kept"],
]:
    """Copy the slots of some caches that a hypothesis may still read, with room for more steps.

    Return the keys, values, `visible` and `positions` of one cache with all their hypotheses.
    """
    live = [cache.find_live_slots() for cache in caches]
    kept, width = max(order.shape[1] for order in live), caches[0].visible.shape[1]
    capacity = round_up_slots(kept + SPARE_STEPS * width)
    slots, visible, positions = [], [], []
    for cache, order in zip(caches, live, strict=True):
        sentences, heads, before = cache.keys.shape[1:4]
        first = torch.arange(sentences * heads, device=order.device).view(sentences, heads, 1)
        padded = functional.pad(order, (0, capacity - order.shape[1]))
        cells = first * before + padded[:, None]  # [S H capacity]
        slots.append(cells.flatten() if order.shape[1] else order.flatten())
        more = (0, kept - order.shape[1])
        seen = cache.visible.gather(2, order[:, None].expand(-1, width, -1))
        visible.append(functional.pad(seen, more))
        positions.append(functional.pad(cache.positions.gather(1, order), more))
    return (
        gather_slots([cache.keys for cache in caches], slots, capacity),
        gather_slots([cache.values for cache in caches], slots, capacity),
        torch.cat(visible),
        torch.cat(positions),
    )


def gather_slots(
    sides: Sequence[Float[Tensor, "N _ H _ K"]], slots: Sequence[Int[Tensor, " _"]], capacity: int
) -> Float[Tensor, "N S H capacity K"]:
    """Copy some slots of caches' keys (or values) to one new tensor with `capacity` slots.

    `sides` has the keys (or values) of each cache, and `slots` the indices of its slots among those
    of all sentences and heads of a layer. A cache without indices gets zeros.
    """
    layers, _, heads, _, width = sides[0].shape
    counts = [side.shape[1] for side in sides]
    copy = sides[0].new_empty(layers, sum(counts), heads, capacity, width)
    for side, chosen, part in zip(sides, slots, copy.split(counts, dim=1), strict=True):
        if not chosen.shape[0]:
            part.zero_()
            continue
        for layer, into in zip(side.flatten(1, 3), part.flatten(1, 3), strict=True):
            torch.index_select(layer, 0, chosen, out=into)
    return copy


def round_up_slots(count: int) -> int:
    """Round a number of slots up to a multiple of SLOT_MULTIPLE, for a fast softmax."""
    return -(-count // SLOT_MULTIPLE) * SLOT_MULTIPLE


def concatenate_padded(
    sides: Sequence[Float[Tensor, "..."]], value: float = 0, *, dim: int = 0
) -> Float[Tensor, "..."]:
    """Join caches' tensors along `dim`; pad dimension 3, source positions, with `value`."""
    longest = max(side.shape[3] for side in sides)
    later = [0, 0] * (sides[0].dim() - 4)  # no padding of later dimensions
    padded = [
        functional.pad(side, (*later, 0, longest - side.shape[3]), value=value)
        if side.shape[3] < longest
        else side
        for side in sides
    ]
    return torch.cat(padded, dim=dim)


def start_cache(
    keys: Sequence[Float[Tensor, "T H K"]],
    values: Sequence[Float[Tensor, "T H d_v"]],
    lengths: Sequence[int],
    attend: "AttendCached | None" = None,
) -> KVCache:
    """Build the KV cache of sources before the first step, from each layer's keys and values."""
    tokens = torch.tensor(lengths)
    real = torch.arange(round_up_slots(max(lengths))) < tokens[:, None]  # [S s]
    device = keys[0].device
    cells = move_to_device(real.flatten().nonzero()[:, 0], device)
    real = move_to_device(real, device)
    memory_keys, memory_values = (
        torch.stack([scatter_to_padded(side, cells, real.shape) for side in sides])
        for sides in (keys, values)
    )
    layers, sentences, heads, _, key_width = memory_keys.shape
    none = torch.zeros(sentences, 1, 0, dtype=torch.bool, device=device)
    return KVCache(
        keys=memory_keys.new_empty(layers, sentences, heads, 0, key_width),
        values=memory_keys.new_empty(layers, sentences, heads, 0, memory_values.shape[4]),
        visible=none,
        positions=none[:, 0].long(),
        lengths=torch.zeros(sentences, dtype=torch.long, device=device),
        longest=0,
        memory_keys=memory_keys,
        memory_values=memory_values,
        memory_mask=build_additive_mask(~real[:, None, None], memory_keys.dtype),
        attend=attend or attend_to_cache,
    )


def scatter_to_padded(
    side: Float[Tensor, "T H k"], cells: Int[Tensor, " T"], shape: torch.Size
) -> Float[Tensor, "S H s k"]:
    """Return keys (or values) of T packed tokens, padded with 0 to S sentences of s positions.

    `shape` is (S, s), and `cells` are the indices of the tokens in a flattened table of this shape.
    """
    padded = side.new_zeros(shape.numel(), *side.shape[1:]).index_copy_(0, cells, side)
    return padded.unflatten(0, shape).transpose(1, 2).contiguous()


# --- What the layers read and write in one decoding step ------------------------------------------


class StepTensors(NamedTuple):
    """The tensors of the KV cache that all layers read and write in one decoding step."""

    keys: Float[Tensor, "N S H read K"]
    values: Float[Tensor, "N S H read d_v"]
    new_keys: Float[Tensor, "N S H W K"]  # the parts of `keys` and `values` for this step's tokens
    new_values: Float[Tensor, "N S H W d_v"]
    visible: Bool[Tensor, "S W c"]  # True for slots of a row's own history and its newest slot
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_mask: Float[Tensor, "S 1 1 s"]


@final
@dataclass(frozen=True)
class CacheStep:
    """The cache's tensors and attention function in a step; iterating yields each layer's part."""

    tensors: StepTensors
    attend: AttendCached

    def __iter__(self) -> "Iterator[CachedLayer]":
        # each size is read once for all layers: in a graph, each reading is one more operator
        step = self.tensors
        sentences, (width, slots) = step.memory_mask.shape[0], step.visible.shape[1:]
        output_width = step.new_values.shape[2] * step.new_values.shape[4]
        mask = step.keys.new_full((sentences, 1, width, step.keys.shape[3]), -math.inf)
        mask[:, 0, :, :slots].masked_fill_(step.visible, 0)
        own = (step.keys, step.values, step.new_keys, step.new_values)
        of_all_layers = (side.unbind() for side in (*own, step.memory_keys, step.memory_values))
        for layer in zip(*of_all_layers, strict=True):
            yield CachedLayer(self.attend, sentences, output_width, mask, step.memory_mask, *layer)


@final
@dataclass(frozen=True)
class CachedLayer:
    """One layer's part of the KV cache in a decoding step, to append to and attend to."""

    attend_cached: AttendCached
    sentences: int  # S
    output_width: int  # the width of all heads' values together, H d_v
    mask: Float[Tensor, "S 1 W read"]  # to add to scores: -inf for slots that a row may not read
    memory_mask: Float[Tensor, "S 1 1 s"]
    keys: Float[Tensor, "S H read K"]
    values: Float[Tensor, "S H read d_v"]
    new_keys: Float[Tensor, "S H W K"]  # the parts of `keys` and `values` for this step's tokens
    new_values: Float[Tensor, "S H W d_v"]
    memory_keys: Float[Tensor, "S H s K"]
    memory_values: Float[Tensor, "S H s d_v"]

    def split_heads(
        self, x: Float[Tensor, "R widths"], heads: int, widths: Sequence[int]
    ) -> Sequence[Float[Tensor, "S H W k"]]:
        """Split the columns of x by `widths` (q, k, v), and each part by sentence and by head."""
        sentences, width = self.sentences, widths[0]
        if len(widths) == 1:  # this case and the next take fewer operators
            return (x.view(sentences, -1, heads, width // heads).transpose(1, 2),)
        if all(one == width for one in widths):
            equal = x.view(sentences, -1, len(widths), heads, width // heads)
            return equal.permute(2, 0, 3, 1, 4).unbind()
        by_token = (part.unflatten(1, (heads, -1)) for part in x.split(list(widths), dim=1))
        return [part.unflatten(0, (sentences, -1)).transpose(1, 2) for part in by_token]

    def append(self, k: Float[Tensor, "S H W K"], v: Float[Tensor, "S H W d_v"]) -> None:
        """Write the key and value of each hypothesis' newest token into the cache."""
        self.new_keys.copy_(k)
        self.new_values.copy_(v)

    def attend(self, q: Float[Tensor, "S H W K"]) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its hypothesis; join the heads    (equation 1)"""
        return self.attend_cached(q, self.keys, self.values, self.mask, self.output_width)

    def attend_to_source(self, q: Float[Tensor, "S H W K"]) -> Float[Tensor, "R Hd_v"]:
        """Attend from each newest token to its source; join the heads    (equation 1)"""
        keys, values = self.memory_keys, self.memory_values
        return self.attend_cached(q, keys, values, self.memory_mask, self.output_width)


def attend_to_cache(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s d_v"],
    mask: Float[Tensor, "S 1 #W s"],
    width: int,
) -> Float[Tensor, "R Hd_v"]:
    """Attend from R = S W hypotheses to s cached positions of their sentences    (equation 1)

    The mask is 0 or -inf. `width` is H d_v; reading it from a shape would slow a graph down.
    """
    if is_faster_as_products(q):
        out = attend_by_products(q, k, v, mask)
    else:
        out = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(-1, width)


def attend_by_loops_if_faster(
    q: Float[Tensor, "S H W K"],
    k: Float[Tensor, "S H s K"],
    v: Float[Tensor, "S H s d_v"],
    mask: Float[Tensor, "S 1 #W s"],
    width: int,
) -> Float[Tensor, "R Hd_v"]:
    """Compute `attend_to_cache`, by compiled loops if there are many rows, else by torch."""
    if not has_rows_for_loops(q, q.shape[0] * q.shape[2]):
        return attend_to_cache(q, k, v, mask, width)
    from transduce.fast.search_loops import LOOP_OPERATOR

    return LOOP_OPERATOR(q, k, v, mask).view(-1, width)


def is_faster_as_products(q: Float[Tensor, "S H W K"]) -> bool:
    """Return whether two matmuls beat fused attention, as they do in bfloat16 with many rows."""
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

    Each product is one kernel for all sentences and heads. torch's fused function starts small
    products for each of them (decision 0033).
    """
    scores = torch.add(mask.float(), q @ k.transpose(2, 3), alpha=1 / math.sqrt(q.shape[3]))
    return scores.softmax(dim=3).to(v.dtype) @ v


def build_additive_mask(hidden: Bool[Tensor, "..."], dtype: torch.dtype) -> Float[Tensor, "..."]:
    """Return a mask to add to attention scores: -inf where `hidden`, else 0."""
    zeros = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
    return zeros.masked_fill_(hidden, -math.inf)
