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
        changed = torch.tensor([new for new, old in enumerate(kept) if new != old])
        if len(changed):
            indices = move_to_device(changed, sentences.device)
            for side in (self.keys, self.values, self.memory_keys, self.memory_values):
                side[:, indices] = side[:, sentences[indices]]
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
        live = self.visible.any(dim=1)  # [S c]
        kept = int(live.sum(dim=1).max()) if live.numel() else 0
        order = live.byte().argsort(dim=1, descending=True, stable=True)[:, :kept]  # [S kept]
        width = self.visible.shape[1]
        capacity = round_up_slots(kept + SPARE_STEPS * width)
        slots = locate_slots(order, self.keys.shape, capacity)
        return replace(
            self,
            keys=gather_slots(self.keys, slots, capacity),
            values=gather_slots(self.values, slots, capacity),
            visible=self.visible.gather(2, order[:, None].expand(-1, width, -1)),
            positions=self.positions.gather(1, order),
        )

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

    def pad(self, slots: int, capacity: int, sources: int) -> "KVCache":
        """Pad to `slots` written slots, `capacity` allocated slots and `sources` source positions.

        The padding is masked.
        """
        more, longer = slots - self.slot_count, sources - self.memory_keys.shape[3]
        spare = capacity - self.keys.shape[3]
        return replace(
            self,
            keys=functional.pad(self.keys, (0, 0, 0, spare)),
            values=functional.pad(self.values, (0, 0, 0, spare)),
            visible=functional.pad(self.visible, (0, more)),
            positions=functional.pad(self.positions, (0, more)),
            memory_keys=functional.pad(self.memory_keys, (0, 0, 0, longer)),
            memory_values=functional.pad(self.memory_values, (0, 0, 0, longer)),
            memory_mask=functional.pad(self.memory_mask, (0, longer), value=-math.inf),
        )


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
    side: Float[Tensor, "N S h _ k"], slots: Int[Tensor, " indices"], capacity: int
) -> Float[Tensor, "N S h capacity k"]:
    """Copy the slots of each layer's keys or values to a new tensor with spare slots."""
    layers, sentences, heads, _, width = side.shape
    copy = side.new_empty(layers, sentences, heads, capacity, width)
    if not slots.shape[0]:
        return copy.zero_()
    for layer, into in zip(side.flatten(1, 3), copy.flatten(1, 3), strict=True):
        torch.index_select(layer, 0, slots, out=into)
    return copy


def round_up_slots(count: int) -> int:
    """Round a number of slots up to a multiple of SLOT_MULTIPLE, for a fast softmax."""
    return -(-count // SLOT_MULTIPLE) * SLOT_MULTIPLE


def concatenate(first: KVCache, second: KVCache) -> KVCache:
    """Return one cache with the hypotheses of both caches, which may differ in length."""
    first, second = first.compact(), second.compact()
    slots = max(first.slot_count, second.slot_count)
    capacity = max(cache.keys.shape[3] for cache in (first, second))
    sources = max(first.memory_keys.shape[3], second.memory_keys.shape[3])
    a, b = (one.pad(slots, capacity, sources) for one in (first, second))
    return KVCache(
        keys=torch.cat([a.keys, b.keys], dim=1),
        values=torch.cat([a.values, b.values], dim=1),
        visible=torch.cat([a.visible, b.visible]),
        positions=torch.cat([a.positions, b.positions]),
        lengths=torch.cat([a.lengths, b.lengths]),
        max_length=max(a.max_length, b.max_length),
        memory_keys=torch.cat([a.memory_keys, b.memory_keys], dim=1),
        memory_values=torch.cat([a.memory_values, b.memory_values], dim=1),
        memory_mask=torch.cat([a.memory_mask, b.memory_mask]),
    )
