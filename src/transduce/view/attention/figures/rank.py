"""Ranks heads by how strongly they show the effect of Figure 3, 4 or 5 of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np

from transduce.view.attention.figures.build import WordWeights
from transduce.view.attention.figures.paper import PaperFigure

STRONG = 0.5  # a head with at least this weight on the key words shows Figure 3's or 4's effect


@final
@dataclass(frozen=True)
class RankedHeads:
    """A head or pair of heads of one layer, and how strongly it shows a figure's effect."""

    layer: int  # from 1
    heads: tuple[int, ...]  # from 1
    strength: float  # from 0 to 1


@final
@dataclass(frozen=True)
class FigureChoice:
    """The layer and the heads of a model that show the effect of a figure best."""

    layer: int  # from 1
    heads: tuple[int, ...]  # from 1; all heads if empty


def rank_heads(
    joined: WordWeights, figure: PaperFigure, layers: Sequence[int]
) -> list[RankedHeads]:
    """Rank heads by how strongly they show a figure's effect, strongest first.

    For Figures 3 and 4 the strength is the weight from the figure's word on the words that it
    should attend to. For Figure 5 it is the part of a query's weights, on average, that two heads
    of a layer put on different words.
    """
    ranked = rank_by_difference(joined) if not figure.word else rank_by_weight(joined, figure)
    named = [RankedHeads(layers[one.layer - 1], one.heads, one.strength) for one in ranked]
    return sorted(named, key=lambda one: (-one.strength, one.layer, one.heads))


def rank_by_weight(joined: WordWeights, figure: PaperFigure) -> list[RankedHeads]:
    """Return for each head the weight from a figure's query word on its key words."""
    keys = [joined.find(word) for word in figure.read]
    strength = joined.weights[:, :, joined.find(figure.word), keys].sum(axis=-1)
    return [
        RankedHeads(layer + 1, (head + 1,), float(strength[layer, head]))
        for layer, head in np.ndindex(strength.shape)
    ]


def rank_by_difference(joined: WordWeights) -> list[RankedHeads]:
    """Return for each two heads of a layer their mean total variation distance over all queries."""
    return [
        RankedHeads(
            layer,
            (first + 1, second + 1),
            float(np.abs(weights[first] - weights[second]).sum(axis=-1).mean() / 2),
        )
        for layer, weights in enumerate(joined.weights, start=1)
        for first, second in combinations(range(len(weights)), 2)
    ]


def count_strong(ranked: Sequence[RankedHeads]) -> dict[int, int]:
    """Return for each layer how many of its heads have a strength of at least 0.5."""
    layers = sorted({one.layer for one in ranked})
    return {
        layer: sum(one.layer == layer and one.strength >= STRONG for one in ranked)
        for layer in layers
    }


def choose_heads(ranked: Sequence[RankedHeads], figure: PaperFigure) -> FigureChoice:
    """Return the layer and heads that show a figure's effect best.

    For Figure 3 these are all heads of the layer with the most strong heads, for Figure 4 the
    strongest head and the second of its layer, for Figure 5 the two heads that differ most.
    """
    if figure.number == 3:
        counts = count_strong(ranked)
        layer = max(counts, key=lambda one: (counts[one], sum_strength(ranked, one)))
        return FigureChoice(layer, ())
    best = ranked[0]
    if figure.number == 4:
        heads = [one.heads[0] for one in ranked if one.layer == best.layer]
        return FigureChoice(best.layer, tuple(heads[:2]))
    return FigureChoice(best.layer, best.heads)


def sum_strength(ranked: Sequence[RankedHeads], layer: int) -> float:
    """Return the sum of the strengths of a layer's heads."""
    return sum(one.strength for one in ranked if one.layer == layer)
