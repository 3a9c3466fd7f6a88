"""Sentences of near-equal length, laid side by side: where a packed batch becomes rectangular."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transduce.model.attention.mask import AttentionMask
from transduce.packed import sent

# G sentences of one rectangle · t query places and s key places of each · L: one or the other

WASTE = 1.5  # a rectangle may hold so many times the scores that its sentences need
FREE = 65_536  # scores that cost less than one more rectangle does


@final
@dataclass(frozen=True)
class Places:
    """Sentences side by side. A place past a sentence's end repeats its last token, unseen."""

    tokens: Int[np.ndarray, "G L"]  # which token of the batch stands in each place
    real: Bool[np.ndarray, "G L"]  # the places before a sentence's end


@final
@dataclass(frozen=True)
class Rectangle:
    """G sentences at once."""

    queries: Places
    keys: Places
    hidden: Bool[Tensor, "G 1 t s"] | None  # what may not be seen, unless all may


def rectangles(
    queries: Sequence[int], keys: Sequence[int], sight: AttentionMask, device: torch.device
) -> list[Rectangle]:
    """Lay a batch into as few rectangles as waste little."""
    query_lengths, key_lengths = np.asarray(queries), np.asarray(keys)
    order = np.lexsort((query_lengths, key_lengths))
    cuts = grouped(query_lengths[order], key_lengths[order])
    return [
        rectangle(query_lengths, key_lengths, chosen, sight, device)
        for chosen in np.split(order, cuts)
    ]


def grouped(queries: "np.ndarray", keys: "np.ndarray") -> list[int]:
    """Where to cut sentences, sorted by length, into rectangles that waste little."""
    cuts: list[int] = []
    first, needed, tallest = 0, 0, 0
    for place, (query, key) in enumerate(zip(queries.tolist(), keys.tolist(), strict=True)):
        needed += query * key
        tallest = max(tallest, query)
        area = (place + 1 - first) * tallest * key  # keys ascend, so this key is the widest
        if area > WASTE * needed + FREE:
            cuts.append(place)
            first, needed, tallest = place, query * key, query
    return cuts


def rectangle(
    queries: "np.ndarray",
    keys: "np.ndarray",
    chosen: "np.ndarray",
    sight: AttentionMask,
    device: torch.device,
) -> Rectangle:
    """The places of one rectangle."""
    ours, height = laid(queries, chosen)
    theirs, width = laid(keys, chosen)
    hidden = None
    if not (sight.is_whole and theirs.real.all()):
        seen = sight.allowed(torch.arange(height), torch.arange(width))  # [t s]
        place = torch.from_numpy(ours.tokens - ours.tokens[:, :1])  # [G t], repeated at the end
        seen_of = seen[place] & torch.from_numpy(theirs.real)[:, None, :]  # [G t s]
        hidden = sent(~seen_of[:, None], device)
    return Rectangle(ours, theirs, hidden)


def laid(
    lengths: "Sequence[int] | np.ndarray", chosen: "np.ndarray | None" = None
) -> tuple[Places, int]:
    """The places of the chosen sentences, and how many each has."""
    every = np.asarray(lengths)
    first = np.cumsum(every) - every
    some = every if chosen is None else every[chosen]
    longest = int(some.max())
    places = np.arange(longest)[None, :]
    starts = first if chosen is None else first[chosen]
    tokens = starts[:, None] + np.minimum(places, some[:, None] - 1)
    return Places(tokens, places < some[:, None]), longest
