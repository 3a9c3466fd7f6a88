"""A curve in one line of text."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

Value = TypeVar("Value")

BARS = "▁▂▃▄▅▆▇█"


def curve(values: Sequence[float], width: int) -> str:
    """The values as bars, averaged to so many; the lowest is the lowest bar."""
    if not values:
        return ""
    points = [mean(part) for part in parts(values, min(width, len(values)))]
    low, high = min(points), max(points)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((point - low) * scale)] for point in points)


def parts(values: Sequence[Value], count: int) -> list[Sequence[Value]]:
    """The values in `count` stretches of near-equal length."""
    edges = [round(place * len(values) / count) for place in range(count + 1)]
    return [values[a:b] for a, b in pairwise(edges)]


def perplexity(nats: float) -> float:
    """As a curve can show it."""
    return math.exp(min(700.0, nats))


def mean(values: Sequence[float] | Sequence[int]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)
