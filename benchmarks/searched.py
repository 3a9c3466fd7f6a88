"""What a turn of a search measured, the same for all who search."""

from collections.abc import Sequence

from benchmarks.machine import memory_now
from benchmarks.turns import Turn


def searched(outputs: Sequence[tuple[int, ...]], seconds: float, start: int) -> Turn:
    """The figures of a turn, of its outputs without END; `start` is the memory before the model."""
    return {
        "seconds": seconds,
        "sentences": len(outputs),
        "tokens": sum(len(ids) + 1 for ids in outputs),  # END is one
        "outputs": [hash(ids) for ids in outputs],
        "memory": memory_now()["peak"] - start,
    }
