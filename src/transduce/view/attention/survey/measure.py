"""Sums of what heads do over many sentence pairs: tendencies, entropy, distance, alignment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np
from jaxtyping import Float, Float32

from transduce.inference.alignment import PairWords
from transduce.inference.outputs import Alignment
from transduce.view.attention.record import AttentionView
from transduce.view.attention.tendencies import (
    BROAD,
    TENDENCIES,
    HeadTendency,
    compute_highest_entropy,
    compute_tendencies,
    label_head,
)

# L layers · H heads · Q query and K key positions
# t target and s source pieces, without BEGIN and END


@final
@dataclass
class KindSums:
    """Sums over queries of what each head does, by layer and head, for one kind of attention."""

    queries: int = 0
    highest: float = 0.0  # the sum of the highest possible entropies
    shares: "Float[np.ndarray, 'L H tendencies'] | float" = 0.0
    entropy: "Float[np.ndarray, 'L H'] | float" = 0.0
    distance: "Float[np.ndarray, 'L H'] | float" = 0.0

    def add(
        self, view: AttentionView, kind: str, heads: tuple[tuple[HeadTendency, ...], ...]
    ) -> None:
        """Add to the sums what every head of a kind of attention does in one sentence pair."""
        weights = view.weights[kind]
        count = weights.shape[2]
        values = [[[one.shares[name] for name in TENDENCIES] for one in layer] for layer in heads]
        self.shares = self.shares + count * np.array(values)
        entropy = np.array([[one.entropy for one in layer] for layer in heads])
        self.entropy = self.entropy + count * entropy
        apart = measure_distance(kind, *weights.shape[2:])
        self.distance = self.distance + (weights * apart).sum(axis=(-2, -1))
        self.highest += float(compute_highest_entropy(view, kind).sum())
        self.queries += count

    def describe(self, layer: int, head: int) -> tuple[HeadTendency, float]:
        """Return a head's tendency and mean distance over all queries, given indices from 0."""
        shares = np.asarray(self.shares)[layer, head] / self.queries
        entropy = float(np.asarray(self.entropy)[layer, head]) / self.queries
        is_broad = entropy >= BROAD * max(self.highest / self.queries, 1.0)
        distance = float(np.asarray(self.distance)[layer, head]) / self.queries
        return label_head(shares, entropy, is_broad=is_broad), distance


def measure_distance(kind: str, queries: int, keys: int) -> Float[np.ndarray, "Q K"]:
    """Return each key's distance in pieces from each query (if "cross", from the diagonal)."""
    scale = (keys - 1) / max(queries - 1, 1) if kind == "cross" else 1.0
    apart: Float[np.ndarray, "Q K"] = np.abs(
        np.arange(keys)[None, :] - scale * np.arange(queries)[:, None]
    )
    return apart


@final
@dataclass
class SurveySums:
    """Sums over sentence pairs of what heads do, and of cross-attention between aligned words."""

    kinds: dict[str, KindSums] = field(default_factory=dict)
    linked: int = 0  # the number of target pieces whose word has a link
    aligned: "Float[np.ndarray, 'L H'] | float" = 0.0  # these pieces' weights on linked words

    def add(self, view: AttentionView) -> None:
        """Add what all heads do on one sentence pair."""
        tendencies: Mapping[str, tuple[tuple[HeadTendency, ...], ...]] = compute_tendencies(view)
        for kind, heads in tendencies.items():
            self.kinds.setdefault(kind, KindSums()).add(view, kind, heads)

    def add_aligned(
        self, weights: Float32[np.ndarray, "L H t s"], words: PairWords, alignment: Alignment
    ) -> None:
        """Add the weights of each target piece on the source words that its word is linked to."""
        linked = np.zeros((words.target[-1] + 1, words.source[-1] + 1), dtype=bool)
        for i, j in alignment.links:
            linked[j, i] = True
        pieces = linked[np.ix_(words.target, words.source)]  # [t s]
        self.aligned = self.aligned + (weights * pieces).sum(axis=(-2, -1))
        self.linked += int(pieces.any(axis=1).sum())
