"""A worker: beam search of ours in two processes of one thread, half of the sentences each.

Arguments: shape, sentences a turn, sentences at once, length, precision.
"""

import contextlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, zip_longest

from benchmarks.turns import Turn, Variant, request_turn, serve, start_worker


def main(*arguments: str) -> None:
    """Serve turns."""
    halves = [Variant(share, "search_ours", (*arguments, share)) for share in ("0/2", "1/2")]
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(len(halves)) as both:
        workers = [stack.enter_context(start_worker(half, threads=1)) for half in halves]

        def turn(number: int) -> Turn:
            began = time.perf_counter()
            found = list(both.map(request_turn, workers, [number] * len(workers)))
            seconds = time.perf_counter() - began
            outputs = chain.from_iterable(zip_longest(*(one["outputs"] for one in found)))
            return {
                "seconds": seconds,
                "outputs": [one for one in outputs if one is not None],
                **{
                    name: sum(one[name] for one in found)
                    for name in ("sentences", "tokens", "memory")
                },
            }

        serve(turn)


if __name__ == "__main__":
    main(*sys.argv[1:])
