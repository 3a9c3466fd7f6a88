"""From turns to figures: medians with their spread, ratios within rounds, tables."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from benchmarks.turns import Turn


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The median, and the lowest and highest in brackets."""
    low, mid, high = (f"{v:,.{digits}f}" for v in (min(values), median(values), max(values)))
    return mid if low == high else f"{mid} ({low}..{high})"


def ratios(
    turns: Mapping[str, Sequence[Turn]], ours: str, rate: Callable[[Turn], float]
) -> dict[str, list[float]]:
    """How many times faster ours was than each, round by round."""
    mine = [rate(turn) for turn in turns[ours]]
    return {
        name: [a / rate(turn) for a, turn in zip(mine, theirs, strict=True)]
        for name, theirs in turns.items()
    }


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table, an empty one after it."""
    lines = [header, ["---"] * len(header), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]
