"""The figures of a search turn, in one form for all systems."""

from collections.abc import Sequence

from benchmarks.machine import read_memory
from benchmarks.turns import Turn


def build_search_turn(outputs: Sequence[tuple[int, ...]], seconds: float, start: int) -> Turn:
    """Return a turn's figures from its outputs without END; `start` is the memory before."""
    return {
        "seconds": seconds,
        "sentences": len(outputs),
        "tokens": sum(map(len, outputs)),
        "outputs": [hash(ids) for ids in outputs],
        "memory": read_memory()["peak"] - start,
    }
