"""Decoding one symbol at a time: what was computed before is kept    (section 3.1)

Every row is a hypothesis. Each step writes the keys and values of a sentence's rows into slots of
their own. What was written stays where it is, however the rows move: a row carries along which
slots it grew from. When all slots are full, or sentences join, those that no row grew from go. A
sentence that leaves gives its place to another. The encoder keys and values stand once a sentence.

What another mixing than self-attention must remember lies in the same slots (past.py), of which
those out of its reach go.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from transduce.model.attention.multi_head import CrossAttention
from transduce.model.decoding.layer_cache import FOREVER, LayerCache, look
from transduce.model.transformer import EncoderOutput, Transformer

# N layers · S sentences · W rows of each, R in all · H heads · s source places · c slots
# K = d_k · h, k, v: as H, d_k, d_v, or as a mixing says that it keeps

GROWTH = 4  # steps for which there is room before slots are looked through
EVEN = 16  # a softmax over a multiple of so many numbers is up to twice as fast


@final
@dataclass(frozen=True)
class KVCache:
    """All that the next step needs of the steps before, and of the source.

    A step writes into the room of the cache that it goes on from, and a sentence that moves into
    the place of one that left: only the newest cache goes on.
    """

    keys: Float[Tensor, "N S h room k"]
    values: Float[Tensor, "N S h room v"]
    seen: Bool[Tensor, "S W c"]  # the slots that a row grew from, of those that were written
    places: Int[Tensor, "S c"]  # where in its output the symbol of a slot stands
    written: Int[Tensor, " S"]  # symbols of each output so far
    longest: int  # no output has more of them
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_mask: Float[Tensor, "S 1 1 s"]  # -inf past a source's end

    @property
    def slots(self) -> int:
        """How many of a sentence were written."""
        return self.seen.shape[2]

    def select(self, rows: Int[Tensor, " R2"]) -> "KVCache":
        """These rows, at least one, in this order: the only way that rows move.

        While no sentence leaves all keep their places; the rows of each stand together. All have as
        many rows as before, or any number where each had one.
        """
        sentences, before = self.seen.shape[:2]
        wanted = rows[::before] // before if before > 1 else rows.unique_consecutive()
        some = self if len(wanted) == sentences else self.of_sentences(wanted)
        grown_from = (rows % before).view(len(wanted), -1, 1)
        seen = some.seen.gather(1, grown_from.expand(-1, -1, some.slots))
        return replace(some, seen=seen)

    def of_sentences(self, sentences: Int[Tensor, " S2"]) -> "KVCache":
        """Without the others: what is large of a sentence moves only if it gets another place."""
        count, mask, written = len(sentences), self.memory_mask[sentences], self.written[sentences]
        sources = even(int((mask == 0).sum(dim=-1).max()))
        places = torch.arange(count, device=sentences.device)
        places = places[sentences != places]
        for side in (self.keys, self.values, self.memory_keys, self.memory_values):
            side[:, places] = side[:, sentences[places]]
        return KVCache(
            keys=self.keys[:, :count],
            values=self.values[:, :count],
            seen=self.seen[sentences],
            places=self.places[sentences],
            written=written,
            longest=int(written.max()),
            memory_keys=self.memory_keys[:, :count, :, :sources],
            memory_values=self.memory_values[:, :count, :, :sources],
            memory_mask=mask[..., :sources],
        )

    def with_room(self) -> "KVCache":
        """Without the slots that no row grew from, and with room for more."""
        alive = self.seen.any(dim=1)  # [S c]
        kept = int(alive.sum(dim=1).max()) if alive.numel() else 0
        order = alive.byte().argsort(dim=1, descending=True, stable=True)[:, :kept]  # [S kept]
        width = self.seen.shape[1]
        room = even(kept + GROWTH * width)
        return replace(
            self,
            keys=taken(self.keys, order, room),
            values=taken(self.values, order, room),
            seen=self.seen.gather(2, order[:, None].expand(-1, width, -1)),
            places=self.places.gather(1, order),
        )


def taken(
    side: Float[Tensor, "N S h _ k"], order: Int[Tensor, "S c"], room: int
) -> Float[Tensor, "N S h room k"]:
    """Some slots of each sentence; what stands in the room after them is looked at by nobody."""
    layers, sentences, heads, before, width = side.shape
    if not order.shape[1]:
        return side.new_zeros(layers, sentences, heads, room, width)
    first = torch.arange(sentences * heads, device=side.device).view(sentences, heads, 1) * before
    slots = (first + functional.pad(order, (0, room - order.shape[1]))[:, None]).flatten()
    found = side.new_empty(layers, sentences, heads, room, width)
    for layer, into in zip(side, found, strict=True):
        torch.index_select(layer.flatten(0, 2), 0, slots, out=into.flatten(0, 2))
    return found


def start(model: Transformer, memory: EncoderOutput) -> KVCache:
    """Nothing written yet, one row a sentence."""
    sizes, device = model.sizes, memory.states.device
    lengths = torch.tensor(memory.lengths)
    real = torch.arange(even(max(memory.lengths))) < lengths[:, None]  # [S s]
    places, real = real.flatten().nonzero()[:, 0].to(device), real.to(device)
    per_layer = [layer.cross_attention.memory(memory.states) for layer in model.decoder]
    keys, values = (
        torch.stack([laid(side, places, real.shape) for side in sides])
        for sides in zip(*per_layer, strict=True)
    )
    heads, *widths = model.decoder[0].self_attention.kept
    sentences = len(lengths)
    none = torch.zeros(sentences, 1, 0, dtype=torch.bool, device=device)
    return KVCache(
        keys=keys.new_empty(sizes.layers, sentences, heads, 0, widths[0]),
        values=keys.new_empty(sizes.layers, sentences, heads, 0, widths[1]),
        seen=none,
        places=none[:, 0].long(),
        written=torch.zeros(sentences, dtype=torch.long, device=device),
        longest=0,
        memory_keys=keys,
        memory_values=values,
        memory_mask=masked(keys, ~real[:, None, None]),
    )


def laid(
    side: Float[Tensor, "T H k"], places: Int[Tensor, " T"], shape: torch.Size
) -> Float[Tensor, "S H s k"]:
    """Every token's in its place, zeros in the places past a source's end."""
    every = side.new_zeros(shape.numel(), *side.shape[1:]).index_copy_(0, places, side)
    return every.unflatten(0, shape).transpose(1, 2).contiguous()


def even(count: int) -> int:
    """As many, or so few more that a softmax over them is fast."""
    return -(-count // EVEN) * EVEN


def step(
    model: Transformer, ids: Int[Tensor, " R"], cache: KVCache
) -> tuple[Float[Tensor, "R d_model"], KVCache]:
    """The decoder's states after one more symbol in every row."""
    attends, r = model.sizes.mixing == "self-attention", model.sizes.decoder_neighbourhood
    reach = (r - 1) // 2 if r else max(one.self_attention.reach for one in model.decoder)
    now, longest = cache.written, cache.longest + 1
    cache = with_slots(cache, reach)
    shown = even(cache.slots) if attends else cache.slots
    mask = mask_of_slots(cache, shown) if attends else None
    place = now.repeat_interleave(cache.seen.shape[1])  # [R]
    x = model.target(ids) + model.target_positions(place, longest)
    for number, layer in enumerate(model.decoder):
        keys, values = (side[number, :, :, :shown] for side in (cache.keys, cache.values))
        past = LayerCache(keys, values, cache.seen, cache.places, now, mask)
        x = layer.add_self(x, partial(layer.self_attention.step, past=past))
        x = layer.add_cross(x, partial(look_back, layer.cross_attention, cache, number))
        x = layer.add_feed_forward(x, layer.feed_forward)
    return model.decoder_final_norm(x), replace(cache, written=now + 1, longest=longest)


def look_back(
    attention: CrossAttention, cache: KVCache, layer: int, x: Float[Tensor, "R d_model"]
) -> Float[Tensor, "R d_model"]:
    """What the rows see of their source."""
    keys, values = cache.memory_keys[layer], cache.memory_values[layer]
    seen = look(attention.queries(x), keys, values, cache.memory_mask)  # [R H d_v]
    return attention.output(seen.flatten(1))


def mask_of_slots(cache: KVCache, shown: int) -> Float[Tensor, "S 1 W shown"]:
    """Hides what a row did not grow from, and what nobody wrote yet."""
    hidden = functional.pad(~cache.seen, (0, shown - cache.slots), value=True)
    return masked(cache.keys, hidden[:, None])


def masked(like: Tensor, hidden: Bool[Tensor, "..."]) -> Float[Tensor, "..."]:
    """A mask to be added to scores."""
    return like.new_zeros(hidden.shape).masked_fill_(hidden, -math.inf)


def with_slots(cache: KVCache, reach: int) -> KVCache:
    """A slot more for every row, to be written; what is out of reach is seen no more."""
    sentences, width, slots = cache.seen.shape
    if slots + width > cache.keys.shape[3]:
        cache = cache.with_room()
    own = torch.eye(width, dtype=torch.bool, device=cache.seen.device).expand(sentences, -1, -1)
    seen = torch.cat([cache.seen, own], dim=2)
    places = torch.cat([cache.places, cache.written[:, None].expand(-1, width)], dim=1)
    if reach < FOREVER:
        seen &= (places >= (cache.written - reach)[:, None])[:, None]
    return replace(cache, seen=seen, places=places)


def join(first: KVCache, second: KVCache) -> KVCache:
    """The rows of both."""
    first, second = first.with_room(), second.with_room()
    slots, room = max(first.slots, second.slots), max(c.keys.shape[3] for c in (first, second))
    sources = max(first.memory_keys.shape[3], second.memory_keys.shape[3])
    a, b = (widened(one, slots, room, sources) for one in (first, second))
    return KVCache(
        keys=torch.cat([a.keys, b.keys], dim=1),
        values=torch.cat([a.values, b.values], dim=1),
        seen=torch.cat([a.seen, b.seen]),
        places=torch.cat([a.places, b.places]),
        written=torch.cat([a.written, b.written]),
        longest=max(a.longest, b.longest),
        memory_keys=torch.cat([a.memory_keys, b.memory_keys], dim=1),
        memory_values=torch.cat([a.memory_values, b.memory_values], dim=1),
        memory_mask=torch.cat([a.memory_mask, b.memory_mask]),
    )


def widened(cache: KVCache, slots: int, room: int, sources: int) -> KVCache:
    """With as many slots, of which nobody saw the last, and room for longer sources."""
    more, longer = slots - cache.slots, sources - cache.memory_keys.shape[3]
    return replace(
        cache,
        keys=functional.pad(cache.keys, (0, 0, 0, room - cache.keys.shape[3])),
        values=functional.pad(cache.values, (0, 0, 0, room - cache.values.shape[3])),
        seen=functional.pad(cache.seen, (0, more)),
        places=functional.pad(cache.places, (0, more)),
        memory_keys=functional.pad(cache.memory_keys, (0, 0, 0, longer)),
        memory_values=functional.pad(cache.memory_values, (0, 0, 0, longer)),
        memory_mask=functional.pad(cache.memory_mask, (0, longer), value=-math.inf),
    )
