"""Decoding one symbol at a time: what was computed before is kept    (section 3.1)

Every row is a hypothesis. Keys and values lie in columns, one a step, each with a slot for every
row of a sentence. What was written stays where it is, however the rows move: a row carries along
which slot of each column it grew from. A sentence that joined later began at a later column, and
its rows see none before it. The encoder's keys and values stand once a sentence.

What another mixing than self-attention must remember lies in the same columns (past.py), of
which those out of its reach go.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from transduce.model.attention import CrossAttention
from transduce.model.past import Past, look
from transduce.model.transformer import Memory, Transformer

# N layers · S sentences · W rows of each, R in all · H heads · s source places · c columns
# K = d_k · h, k, v: as H, d_k, d_v, or as a mixing says that it keeps

GROWTH = 16  # columns at first; all full, there are twice as many
EVEN = 16  # a softmax over a multiple of so many numbers is up to twice as fast


@final
@dataclass(frozen=True)
class Cache:
    """All that the next step needs of the steps before, and of the source.

    A step writes into the room of the cache that it goes on from: only the newest one goes on.
    """

    keys: Float[Tensor, "N S h room W k"]
    values: Float[Tensor, "N S h room W v"]
    origins: Int[Tensor, "S W c"]  # the slot of each column that a row grew from
    gone: int  # how many columns went from the left that a row still counts
    begun: Int[Tensor, " S"]  # the first column of each sentence; of one that is gone, below 0
    level: bool  # whether no sentence began after another
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_mask: Float[Tensor, "S 1 1 s"]  # -inf past a source's end

    @property
    def columns(self) -> int:
        """How many are filled."""
        return self.origins.shape[2]

    def select(self, rows: Int[Tensor, " R2"]) -> "Cache":
        """These rows, in this order: the only way that rows move.

        Sentences keep their order, and the rows of each stand together. All have as many rows as
        before, or another number while no column is filled.
        """
        sentences, before, columns = self.origins.shape
        wanted = (
            rows[::before] // before if columns else (rows // max(1, before)).unique_consecutive()
        )
        some = self if len(wanted) == sentences else self.narrowed(wanted)
        if not columns:
            return some.of_width(len(rows) // max(1, len(wanted)))
        grown_from = (rows % before).view(len(wanted), before, 1)
        origins = some.origins.gather(1, grown_from.expand(-1, -1, some.columns))
        return replace(some, origins=origins)

    def of_width(self, width: int) -> "Cache":
        """With so many slots a column, where none is filled yet."""
        if width == self.origins.shape[1]:
            return self
        keys, values = (
            side.new_empty(*side.shape[:3], 0, width, side.shape[5])
            for side in (self.keys, self.values)
        )
        origins = self.origins.new_empty(len(self.origins), width, 0)
        return replace(self, keys=keys, values=values, origins=origins)

    def narrowed(self, sentences: Int[Tensor, " S2"]) -> "Cache":
        """Without the other sentences, and the places and columns that these do not look at."""
        mask, begun = self.memory_mask[sentences], self.begun[sentences]
        longest = even(int((mask == 0).sum(dim=-1).max())) if len(mask) else 0
        first, last = (int(one) for one in begun.aminmax()) if len(begun) else (0, 0)
        some = replace(
            self,
            keys=self.keys[:, sentences],
            values=self.values[:, sentences],
            origins=self.origins[sentences],
            begun=begun,
            level=first == last,
            memory_keys=self.memory_keys[:, sentences, :, :longest],
            memory_values=self.memory_values[:, sentences, :, :longest],
            memory_mask=mask[..., :longest],
        )
        return replace(some.without(max(0, first)), gone=max(0, -first))

    def without(self, columns: int) -> "Cache":
        """The leftmost columns gone."""
        return replace(
            self,
            keys=self.keys[:, :, :, columns:],
            values=self.values[:, :, :, columns:],
            origins=self.origins[:, :, columns:],
            gone=self.gone + columns,
            begun=self.begun - columns,
        )


def start(model: Transformer, memory: Memory) -> Cache:
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
    none = torch.zeros(sentences, 1, 0, dtype=torch.long, device=device)
    return Cache(
        keys=keys.new_empty(sizes.layers, sentences, heads, 0, 1, widths[0]),
        values=keys.new_empty(sizes.layers, sentences, heads, 0, 1, widths[1]),
        origins=none,
        gone=0,
        begun=none.new_zeros(sentences),
        level=True,
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


def even(count: int, width: int = 1) -> int:
    """So many columns of that width, or as few more as make an even number of slots."""
    step = EVEN // math.gcd(EVEN, width)
    return -(-count // step) * step


def step(
    model: Transformer, ids: Int[Tensor, " R"], cache: Cache
) -> tuple[Float[Tensor, "R d_model"], Cache]:
    """The decoder's states after one more symbol in every row."""
    cache = with_column(cache)
    columns, width = cache.columns, cache.origins.shape[1]
    place = (columns - 1 - cache.begun).repeat_interleave(width)  # [R]
    attends = model.sizes.mixing == "self-attention"
    shown = even(columns, width) if attends else columns
    mask = mask_of_slots(model.sizes.decoder_neighbourhood, cache, shown) if attends else None
    x = model.target(ids) + model.target_positions(place, cache.gone + columns)
    for number, layer in enumerate(model.decoder):
        keys = cache.keys[number, :, :, :shown]  # [S H c W K], a window on the cache
        past = Past(keys, cache.values[number, :, :, :shown], cache.origins, mask)
        x = layer.add_self(x, partial(layer.self_attention.step, past=past))
        x = layer.add_cross(x, partial(look_back, layer.cross_attention, cache, number))
        x = layer.add_feed_forward(x, layer.feed_forward)
    reach = max(layer.self_attention.reach for layer in model.decoder)
    return model.decoder_top(x), cache.without(columns - reach) if columns > reach else cache


def look_back(
    attention: CrossAttention, cache: Cache, layer: int, x: Float[Tensor, "R d_model"]
) -> Float[Tensor, "R d_model"]:
    """What the rows see of their source."""
    keys, values = cache.memory_keys[layer], cache.memory_values[layer]
    seen = look(attention.queries(x), keys, values, cache.memory_mask)  # [R H d_v]
    return attention.output(seen.flatten(1))


def mask_of_slots(r: int, cache: Cache, shown: int) -> Float[Tensor, "S 1 W cW"] | None:
    """Hides what others wrote or nobody yet, and what lies before a row or its neighbourhood.

    That of section 4, of r positions. One mask for all that is shown.
    """
    columns, width = cache.columns, cache.origins.shape[1]
    if width == 1 and cache.level and not r and shown == columns:
        return None
    first = cache.begun.clamp(min=columns - 1 - (r - 1) // 2) if r else cache.begun
    slots = torch.arange(width, device=first.device)
    early = torch.arange(columns, device=first.device) < first[:, None]  # [S c]
    hidden = (cache.origins[..., None] != slots) | early[:, None, :, None]  # [S W c W]
    unwritten = (0, (shown - columns) * width)
    return masked(cache.keys, functional.pad(hidden.flatten(2)[:, None], unwritten, value=True))


def masked(like: Tensor, hidden: Bool[Tensor, "..."]) -> Float[Tensor, "..."]:
    """A mask to be added to scores."""
    return like.new_zeros(hidden.shape).masked_fill_(hidden, -math.inf)


def with_column(cache: Cache) -> Cache:
    """One column more, to be written: every row has its own slot."""
    sentences, width, columns = cache.origins.shape
    own = torch.arange(width, device=cache.origins.device)[None, :, None].expand(sentences, -1, 1)
    cache = replace(cache, origins=torch.cat([cache.origins, own], dim=2))
    if even(columns + 1, width) <= cache.keys.shape[3]:
        return cache
    room = even(max(GROWTH, 2 * columns), width)
    keys, values = (with_room(side, columns, room) for side in (cache.keys, cache.values))
    return replace(cache, keys=keys, values=values)


def with_room(
    side: Float[Tensor, "N S h _ W k"], columns: int, room: int
) -> Float[Tensor, "N S h room W k"]:
    """The filled columns, and zeros in those that are not yet written."""
    longer = side.new_empty(*side.shape[:3], room, *side.shape[4:])
    longer[:, :, :, :columns], longer[:, :, :, columns:] = side[:, :, :, :columns], 0
    return longer


def join(first: Cache, second: Cache) -> Cache:
    """The rows of both, set so that their last columns meet."""
    columns = max(first.columns, second.columns)
    places = max(first.memory_keys.shape[3], second.memory_keys.shape[3])
    sides = [widened(shifted(one, columns), places) for one in (first, second)]
    a, b = sides
    return Cache(
        keys=torch.cat([a.keys, b.keys], dim=1),
        values=torch.cat([a.values, b.values], dim=1),
        origins=torch.cat([a.origins, b.origins]),
        gone=max(one.gone + one.columns for one in (first, second)) - columns,
        begun=torch.cat([a.begun, b.begun]),
        level=first.level and second.level and first.columns == second.columns,
        memory_keys=torch.cat([a.memory_keys, b.memory_keys], dim=1),
        memory_values=torch.cat([a.memory_values, b.memory_values], dim=1),
        memory_mask=torch.cat([a.memory_mask, b.memory_mask]),
    )


def shifted(cache: Cache, columns: int) -> Cache:
    """The filled columns only, moved so that they end at `columns`."""
    before = columns - cache.columns
    keys, values = (
        functional.pad(side[:, :, :, : cache.columns], (0, 0, 0, 0, before, 0))
        for side in (cache.keys, cache.values)
    )
    origins = functional.pad(cache.origins, (before, 0))
    return replace(cache, keys=keys, values=values, origins=origins, begun=cache.begun + before)


def widened(cache: Cache, places: int) -> Cache:
    """Room for longer sources."""
    more = places - cache.memory_keys.shape[3]
    keys, values = (
        functional.pad(side, (0, 0, 0, more)) for side in (cache.memory_keys, cache.memory_values)
    )
    mask = functional.pad(cache.memory_mask, (0, more), value=-math.inf)
    return replace(cache, memory_keys=keys, memory_values=values, memory_mask=mask)
