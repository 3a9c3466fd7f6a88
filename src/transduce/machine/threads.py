"""Whether threads can be started, asked before libraries start theirs.

Where that fails OpenMP's library ends the process, and the one that encodes text prints its stack.
"""

import functools
import os
import threading

from transduce.errors import find_exhaustion, find_spent_address_space


def require_threads(count: int) -> None:
    """Start `count` threads and end them; raise NotEnoughMemoryError if one cannot be started.

    Nor may `ulimit -v` leave so little that the libraries, whose allocations fail, end the process.
    """
    if spent := find_spent_address_space():
        raise spent
    end, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(count):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise find_exhaustion(error) or error from None
    finally:
        end.set()
        for thread in started:
            thread.join()


@functools.cache
def require_encoding_threads() -> None:
    """Refuse to encode text, asked once in a process, unless each core can have a thread."""
    has_affinity = hasattr(os, "sched_getaffinity")
    require_threads(len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)
