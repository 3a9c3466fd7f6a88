"""Samples of many sources, without a limit of memory."""

from transduce.paper.search import run_continuous_batching
from transduce.search.sampling import sampling_strategy


def draw(decoder, sources, search, sampling, **changes):
    """Return each source's samples, by its index."""
    strategy = sampling_strategy(decoder, sources, search, sampling, **changes)
    return dict(run_continuous_batching(decoder, sources, search, strategy))
