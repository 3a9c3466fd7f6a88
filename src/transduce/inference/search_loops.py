"""Decides which searches use compiled loops: by their size, never by what was searched before."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from transduce.machine.compiled_loops import LOOP_TYPES, MANY_ROWS, loops_in_use

# Sentences of a search from which loading numba and its machine code, half a second, pays off.
SENTENCES_FOR_LOOPS = 1_000


@contextmanager
def use_loops_if_worthwhile(sentences: int) -> Iterator[None]:
    """Let a search of so many sentences in a with block use compiled loops if it is long enough."""
    is_worthwhile = sentences >= SENTENCES_FOR_LOOPS and load_loops()
    token = loops_in_use.set(loops_in_use.get() or is_worthwhile)
    try:
        yield
    finally:
        loops_in_use.reset(token)


def use_loops_in_this_process() -> None:
    """Let all searches of this thread use compiled loops: for processes that search for long."""
    loops_in_use.set(load_loops())


def load_loops() -> bool:
    """Load or compile the loops of a search; return whether they work, in this process' thread."""
    return torch.get_num_threads() == 1 and try_loops()


@functools.cache
def try_loops() -> bool:
    """Run all loops of a search on zeros; return False if numba is missing or fails here.

    It may not be installed, not fit this numpy, lack its library, or find the disk full.
    """
    try:
        import numba
    except (ImportError, OSError, AttributeError):
        return False
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined] # it leaves loops to Python
        return False
    try:
        run_loops_once()
    except Exception:  # noqa: BLE001 # damaged machine code on disk fails in many ways
        return False
    return True


def run_loops_once() -> None:
    """Run every loop of a search on a few zeros, which compiles it or loads its machine code."""
    from transduce.fast.highest_sums import highest_sums_by_loops
    from transduce.model.decoding.loop_operators import LOOP_OPERATOR, log_softmax_by_loops
    from transduce.model.decoding.softmax_loops import POSITIONS_AT_ONCE

    for dtype in LOOP_TYPES:
        sides = torch.zeros(MANY_ROWS, 1, POSITIONS_AT_ONCE, 1, dtype=dtype)
        LOOP_OPERATOR(sides, sides, sides, sides.transpose(2, 3))
    log_probs = log_softmax_by_loops(torch.zeros(MANY_ROWS, 2))
    highest_sums_by_loops(torch.zeros(MANY_ROWS, 1), log_probs, 1)
