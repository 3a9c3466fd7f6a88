"""The KV cache of incremental decoding: keys and values of all layers    (section 3.1)

Every row is a hypothesis. Each step writes the keys and values of a sentence's rows into new slots.
Stored slots never move when rows are reordered: each row has a mask over the slots of its own
history. When all slots are full, or two caches are concatenated, slots that are in no live row's
history are evicted. A sentence that finishes frees its part of the tensors for another. The keys
and values of the encoder's output are stored once per sentence.

Recurrent and convolutional layers store their states and inputs in the same slots (layer_cache.py);
slots further back than a layer reads are evicted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from transduce.machine.device import read_tensors
from transduce.model.decoding.layer_cache import UNLIMITED_REACH
from transduce.packed import move_to_device

# N layers · S sentences · W rows of each, R = S W · H heads · s source positions · c slots
# K = d_k · h heads with keys of k and values of v numbers, as the layer's `cache_shape` says

SPARE_STEPS = 4  # number of further steps that `compact` allocates slots for
SLOT_MULTIPLE = 16  # a softmax over a multiple of 16 slots is up to twice as fast


@final
@dataclass(frozen=True)
class KVCache:
    """The state of incremental decoding: keys and values of earlier steps and of the sources.

    A step writes into free capacity of the cache that it extends, and `keep_sentences` overwrites
    finished sentences: only the newest cache may be used afterwards.
    """

    keys: Float[Tensor, "N S h capacity k"]
    values: Float[Tensor, "N S h capacity v"]
    visible: Bool[Tensor, "S W c"]  # the written slots that are in a row's own history
    positions: Int[Tensor, "S c"]  # position of each slot's token in its output
    lengths: Int[Tensor, " S"]  # number of tokens of each output so far
    max_length: int  # the largest of `lengths`
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_mask: Float[Tensor, "S 1 1 s"]  # -inf past a source's end

    @property
    def slot_count(self) -> int:
        """The number of slots (each for one token) written so far, the same for every sentence."""
        return self.visible.shape[2]

    def reorder(self, rows: Int[Tensor, " R2"]) -> "KVCache":
        """Return the cache of the given hypotheses (indices of rows, at least one), in that order.

        The rows of a sentence must be contiguous, and sentences keep their order unless some are
        dropped. Each sentence keeps its number of rows, unless all sentences had a single row.
        """
        sentences, width = self.visible.shape[:2]
        if width > 1 and rows.shape[0] == sentences * width:
            some = self
        else:
            wanted = rows[::width] // width if width > 1 else rows.unique_consecutive()
            some = self if wanted.shape[0] == sentences else self.keep_sentences(wanted)
        parents = (rows % width).view(some.visible.shape[0], -1, 1)
        visible = some.visible.gather(1, parents.expand(-1, -1, some.slot_count))
        return replace(some, visible=visible)

    def keep_sentences(self, sentences: Int[Tensor, " S2"]) -> "KVCache":
        """Return the cache of the given sentences (indices), moving only those with a new index."""
        count, mask, lengths = len(sentences), self.memory_mask[sentences], self.lengths[sentences]
        source_lengths = (mask == 0).sum(dim=-1).flatten()
        kept, tokens, source_tokens = read_tensors([sentences, lengths, source_lengths])
        sources = round_up_slots(max(source_tokens))
        moves = {new: old for new, old in enumerate(kept) if new != old}
        move_sentences((self.keys, self.values, self.memory_keys, self.memory_values), moves)
        return KVCache(
            keys=self.keys[:, :count],
            values=self.values[:, :count],
            visible=self.visible[sentences],
            positions=self.positions[sentences],
            lengths=lengths,
            max_length=max(tokens),
            memory_keys=self.memory_keys[:, :count, :, :sources],
            memory_values=self.memory_values[:, :count, :, :sources],
            memory_mask=mask[..., :sources],
        )

    def compact(self) -> "KVCache":
        """Evict the slots that no hypothesis needs any more; allocate slots for further steps."""
        live = self.find_live_slots()
        capacity = round_up_slots(live.shape[1] + SPARE_STEPS * self.visible.shape[1])
        slots = locate_slots(live, self.keys.shape, capacity)
        visible, positions = self.select_slots(live, live.shape[1])
        return replace(
            self,
            keys=gather_slots([self.keys], [slots], capacity),
            values=gather_slots([self.values], [slots], capacity),
            visible=visible,
            positions=positions,
        )

    def find_live_slots(self) -> Int[Tensor, "S kept"]:
        """Return the indices of each sentence's slots that a hypothesis may still read.

        Where a sentence has fewer than another, slots that are hidden from all follow.
        """
        live = self.visible.any(dim=1)  # [S c]
        kept = int(live.sum(dim=1).max()) if live.numel() else 0
        return live.byte().argsort(dim=1, descending=True, stable=True)[:, :kept]

    def select_slots(
        self, order: Int[Tensor, "S kept"], count: int
    ) -> tuple[Bool[Tensor, "S W {count}"], Int[Tensor, "S {count}"]]:
        """Return which rows see the slots `order`, and their positions, padded to `count` slots."""
        width, more = self.visible.shape[1], count - order.shape[1]
        visible = self.visible.gather(2, order[:, None].expand(-1, width, -1))
        positions = self.positions.gather(1, order)
        return functional.pad(visible, (0, more)), functional.pad(positions, (0, more))

    def open_slots(self, reach: int) -> "KVCache":
        """Add a slot per hypothesis for its next token; hide slots more than `reach` steps back."""
        sentences, width, slots = self.visible.shape
        cache = self.compact() if slots + width > self.keys.shape[3] else self
        own = torch.eye(width, dtype=torch.bool, device=cache.visible.device)
        visible = torch.cat([cache.visible, own.expand(sentences, -1, -1)], dim=2)
        new = cache.lengths[:, None].expand(-1, width)
        positions = torch.cat([cache.positions, new], dim=1)
        if reach < UNLIMITED_REACH:
            visible &= (positions >= (cache.lengths - reach)[:, None])[:, None]
        return replace(cache, visible=visible, positions=positions)


def move_sentences(sides: Sequence[Float[Tensor, "N S _ _ _"]], moves: Mapping[int, int]) -> None:
    """Overwrite sentences' keys and values by those of others: `moves` is from new to old indices.

    Few move at once, to places of others: on a CPU a copy of each takes a fifth of the time of an
    index.
    """
    if sides[0].device.type == "cpu" and moves.keys().isdisjoint(moves.values()):
        for side in sides:
            for new, old in moves.items():
                side.select(1, new).copy_(side.select(1, old))
    elif moves:
        into, source = move_to_device(torch.tensor([*moves.items()]).t(), sides[0].device)
        for side in sides:
            side[:, into] = side[:, source]


def locate_slots(
    order: Int[Tensor, "S kept"], shape: torch.Size, capacity: int
) -> Int[Tensor, " indices"]:
    """Return flat indices into a layer's keys of each sentence's and head's slots `order`.

    The slots are padded to `capacity`. `shape` is that of the keys: layers, sentences, heads,
    slots, width.
    """
    sentences, heads, before = shape[1:4]
    if not order.shape[1]:
        return order.flatten()
    first = torch.arange(sentences * heads, device=order.device).view(sentences, heads, 1) * before
    padded = functional.pad(order, (0, capacity - order.shape[1]))
    return (first + padded[:, None]).flatten()


def gather_slots(
    sides: Sequence[Float[Tensor, "N _ h _ k"]], slots: Sequence[Int[Tensor, " _"]], capacity: int
) -> Float[Tensor, "N S h capacity k"]:
    """Copy slots of keys or values, of one cache or several, to one tensor with spare slots."""
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


def concatenate(first: KVCache, second: KVCache) -> KVCache:
    """Return one cache with the hypotheses of both caches, which may differ in length."""
    both = first, second
    live = [cache.find_live_slots() for cache in both]
    kept = max(order.shape[1] for order in live)
    capacity = round_up_slots(kept + SPARE_STEPS * first.visible.shape[1])
    slots, visible, positions = [], [], []
    for cache, order in zip(both, live, strict=True):
        slots.append(locate_slots(order, cache.keys.shape, capacity))
        seen, at = cache.select_slots(order, kept)
        visible.append(seen)
        positions.append(at)
    return KVCache(
        keys=gather_slots([cache.keys for cache in both], slots, capacity),
        values=gather_slots([cache.values for cache in both], slots, capacity),
        visible=torch.cat(visible),
        positions=torch.cat(positions),
        lengths=torch.cat([first.lengths, second.lengths]),
        max_length=max(first.max_length, second.max_length),
        memory_keys=concatenate_sources([cache.memory_keys for cache in both]),
        memory_values=concatenate_sources([cache.memory_values for cache in both]),
        memory_mask=concatenate_masks([cache.memory_mask for cache in both]),
    )


def concatenate_sources(
    sides: Sequence[Float[Tensor, "N _ H _ k"]],
) -> Float[Tensor, "N S H s k"]:
    """Return all sentences' keys or values of the encoder's output, padded to the longest."""
    longest = max(side.shape[3] for side in sides)
    missing = [longest - side.shape[3] for side in sides]
    padded = [
        functional.pad(side, (0, 0, 0, more)) if more else side
        for side, more in zip(sides, missing, strict=True)
    ]
    return torch.cat(padded, dim=1)


def concatenate_masks(masks: Sequence[Float[Tensor, "_ 1 1 _"]]) -> Float[Tensor, "S 1 1 s"]:
    """Return all sentences' masks over source positions; the padding is masked."""
    longest = max(mask.shape[3] for mask in masks)
    return torch.cat(
        [functional.pad(mask, (0, longest - mask.shape[3]), value=-math.inf) for mask in masks]
    )
