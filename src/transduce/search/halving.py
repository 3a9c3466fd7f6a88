"""Continuous batching that halves its batch when memory runs out"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from transduce.errors import NotEnoughMemoryError, is_out_of_memory
from transduce.paper.search import (
    Decoder,
    DecodingStrategy,
    Result,
    State,
    run_continuous_batching,
)
from transduce.settings import Search


def search_in_memory(
    decoder: Decoder[State],
    sources: Sequence[Sequence[int]],
    search: Search,
    strategy: DecodingStrategy,
) -> Iterator[Result]:
    """Decode sources in batches that fit in memory; yield (source index, hypotheses) when done.

    When memory runs out, the unfinished sources are decoded anew in batches of half the size.
    """
    unfinished = set(range(len(sources)))
    size = min(search.batch_size, len(sources))
    while unfinished:
        attempt = run_continuous_batching(
            decoder,
            sources,
            replace(search, batch_size=size),
            strategy,
            indices=sorted(unfinished),
        )
        try:
            for index, hypotheses in attempt:
                unfinished.discard(index)
                yield index, hypotheses
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if size == 1:
                raise NotEnoughMemoryError(
                    "there is not enough memory to search a single sentence",
                    "try a smaller beam, shorter lines, or fewer --workers",
                ) from None
        size = max(1, size // 2)
