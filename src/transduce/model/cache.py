"""Decoding one symbol at a time: what was computed before is kept    (section 3.1)

Every row is a hypothesis. Its keys and values lie in columns, one a step, shared by all rows; a
row that joined later began at a later column and sees none before it. The encoder's keys and
values stand once a sentence, however many rows look at them: rows of a sentence lie together.

What another mixing than self-attention must remember lies in the same columns (past.py), of
which those out of its reach go.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from transduce.model.attention import CrossAttention
from transduce.model.past import Past, look
from transduce.model.rectangles import laid
from transduce.model.transformer import Memory, Transformer

# N layers · S sentences · R rows · H heads · s source places · c columns · K = d_k
# h, k, v: as H, d_k, d_v, or as a mixing says that it keeps

GROWTH = 8  # columns added when all are full


@final
@dataclass(frozen=True)
class Cache:
    """All that the next step needs of the steps before, and of the source."""

    keys: Float[Tensor, "N R h c k"]
    values: Float[Tensor, "N R h c v"]
    columns: int  # how many of the c are filled
    gone: int  # how many went from the left that a row still counts
    begun: Int[Tensor, " R"]  # the first column of each row; of one that is gone, below 0
    memory_keys: Float[Tensor, "N S H s K"]
    memory_values: Float[Tensor, "N S H s d_v"]
    memory_hidden: Bool[Tensor, "S 1 1 s"]  # places past a source's end

    def select(self, rows: Int[Tensor, " R2"]) -> "Cache":
        """These rows, in this order: the only way that rows move. Sentences keep their order."""
        sentences, width = self.memory_keys.shape[1], self.keys.shape[1]
        wanted = torch.unique_consecutive(rows // max(1, width // max(1, sentences)))
        moved = replace(
            self,
            keys=self.keys.index_select(1, rows),
            values=self.values.index_select(1, rows),
            begun=self.begun[rows],
        )
        return moved if len(wanted) == sentences else moved.narrowed(wanted)

    def narrowed(self, sentences: Int[Tensor, " S2"]) -> "Cache":
        """Without the sources, and the columns, that no row looks at any longer."""
        first = int(self.begun.min()) if len(self.begun) else 0
        hidden = self.memory_hidden[sentences]
        longest = int((~hidden).sum(dim=-1).max()) if len(hidden) else 0
        return replace(
            self.without(max(0, first)),
            gone=max(0, -first),
            memory_keys=self.memory_keys[:, sentences, :, :longest],
            memory_values=self.memory_values[:, sentences, :, :longest],
            memory_hidden=hidden[..., :longest],
        )

    def without(self, columns: int) -> "Cache":
        """The leftmost columns gone."""
        return replace(
            self,
            keys=self.keys[:, :, :, columns:],
            values=self.values[:, :, :, columns:],
            columns=self.columns - columns,
            gone=self.gone + columns,
            begun=self.begun - columns,
        )


def start(model: Transformer, memory: Memory) -> Cache:
    """Nothing written yet, one row a sentence."""
    sizes, sentences = model.sizes, len(memory.lengths)
    tokens, real, longest = laid(memory.lengths)
    places = torch.from_numpy(tokens.reshape(-1)).to(memory.states.device)
    states = memory.states.index_select(0, places)  # [S s d_model], a short source's last repeated
    per_layer = [layer.cross_attention.memory(states) for layer in model.decoder]
    keys, values = (
        torch.stack([side.view(sentences, longest, sizes.heads, -1) for side in sides])
        .transpose(2, 3)
        .contiguous()  # [N S H s K]
        for sides in zip(*per_layer, strict=True)
    )
    heads, *widths = model.decoder[0].self_attention.kept
    nothing = keys.new_empty(sizes.layers, sentences, heads, 0, 1)
    return Cache(
        keys=nothing.expand(-1, -1, -1, -1, widths[0]),
        values=nothing.expand(-1, -1, -1, -1, widths[1]),
        columns=0,
        gone=0,
        begun=torch.zeros(sentences, dtype=torch.long, device=keys.device),
        memory_keys=keys,
        memory_values=values,
        memory_hidden=torch.from_numpy(~real)[:, None, None].to(keys.device),
    )


def step(
    model: Transformer, ids: Int[Tensor, " R"], cache: Cache
) -> tuple[Float[Tensor, "R d_model"], Cache]:
    """The decoder's states after one more symbol in every row."""
    cache = with_room(cache)
    place = cache.columns - cache.begun  # [R]
    hidden = hidden_columns(model, cache)
    x = model.target(ids) + model.target_positions(place, cache.gone + cache.columns + 1)
    for number, layer in enumerate(model.decoder):
        keys = cache.keys[number, :, :, : cache.columns + 1]  # [R H c K], a window on the cache
        values = cache.values[number, :, :, : cache.columns + 1]
        past = Past(keys, values, hidden)
        x = layer.add_self(x, partial(layer.self_attention.step, past=past))
        x = layer.add_cross(x, partial(look_back, layer.cross_attention, cache, number))
        x = layer.add_feed_forward(x, layer.feed_forward)
    cache = replace(cache, columns=cache.columns + 1)
    reach = max(layer.self_attention.reach for layer in model.decoder)
    x = model.decoder_top(x)
    return x, cache.without(cache.columns - reach) if cache.columns > reach else cache


def look_back(
    attention: CrossAttention, cache: Cache, layer: int, x: Float[Tensor, "R d_model"]
) -> Float[Tensor, "R d_model"]:
    """What the rows see of their source; the rows of a sentence look together."""
    q = attention.queries(x)  # [R H K]
    rows, heads, width = q.shape
    sentences = cache.memory_keys.shape[1]
    together = q.view(sentences, rows // sentences, heads, width).transpose(1, 2)
    keys, values = cache.memory_keys[layer], cache.memory_values[layer]
    seen = look(together, keys, values, cache.memory_hidden)  # [S H rows d_v]
    return attention.output(seen.transpose(1, 2).reshape(rows, -1))


def hidden_columns(model: Transformer, cache: Cache) -> Bool[Tensor, "R 1 1 c"] | None:
    """Columns before a row began, or out of its neighbourhood    (section 4)"""
    r = model.sizes.decoder_neighbourhood
    first = cache.begun
    if r:
        first = first.clamp(min=cache.columns - (r - 1) // 2)
    if not bool(first.any()):
        return None
    columns = torch.arange(cache.columns + 1, device=first.device)
    return (columns[None, :] < first[:, None])[:, None, None]


def with_room(cache: Cache) -> Cache:
    """The same cache with at least one empty column."""
    if cache.columns < cache.keys.shape[3]:
        return cache
    grown = (functional.pad(side, (0, 0, 0, GROWTH)) for side in (cache.keys, cache.values))
    keys, values = grown
    return replace(cache, keys=keys, values=values)


def join(first: Cache, second: Cache) -> Cache:
    """The rows of both, set so that their last columns meet."""
    columns = max(first.columns, second.columns)
    places = max(first.memory_keys.shape[3], second.memory_keys.shape[3])
    sides = [widened(shifted(one, columns), places) for one in (first, second)]
    a, b = sides
    return Cache(
        keys=torch.cat([a.keys, b.keys], dim=1),
        values=torch.cat([a.values, b.values], dim=1),
        columns=columns,
        gone=max(one.gone + one.columns for one in (first, second)) - columns,
        begun=torch.cat([a.begun, b.begun]),
        memory_keys=torch.cat([a.memory_keys, b.memory_keys], dim=1),
        memory_values=torch.cat([a.memory_values, b.memory_values], dim=1),
        memory_hidden=torch.cat([a.memory_hidden, b.memory_hidden]),
    )


def shifted(cache: Cache, columns: int) -> Cache:
    """The filled columns only, moved so that they end at `columns`."""
    before = columns - cache.columns
    keys, values = (
        functional.pad(side[:, :, :, : cache.columns], (0, 0, before, 0))
        for side in (cache.keys, cache.values)
    )
    return replace(cache, keys=keys, values=values, columns=columns, begun=cache.begun + before)


def widened(cache: Cache, places: int) -> Cache:
    """Room for longer sources."""
    more = places - cache.memory_keys.shape[3]
    keys, values = (
        functional.pad(side, (0, 0, 0, more)) for side in (cache.memory_keys, cache.memory_values)
    )
    hidden = functional.pad(cache.memory_hidden, (0, more), value=True)
    return replace(cache, memory_keys=keys, memory_values=values, memory_hidden=hidden)
