"""Check that threads can be started, before libraries start their own.

If they cannot start their threads, OpenMP's library ends the process, and the tokeniser's prints a
stack trace.
"""

import functools
import os
import threading

from transduce.errors import find_exhaustion, find_spent_address_space


def require_threads(count: int) -> None:
    """Start `count` threads and end them; raise NotEnoughMemoryError if one cannot be started.

    The same error is raised if `ulimit -v` leaves too little memory for threads and libraries.
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
    """Raise NotEnoughMemoryError unless a thread to encode text can be started for each core."""
    has_affinity = hasattr(os, "sched_getaffinity")
    require_threads(len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1)
