"""Chooses, once for each search, the operations that are fastest on its device."""

from dataclasses import replace
from functools import partial

import torch

from transduce.fast.highest_sums import assume_any, highest_sums, highest_sums_by_loops
from transduce.machine.compiled_loops import loops_in_use
from transduce.paper.operations import PLAIN, Operations


def choose_search_operations(device: torch.device) -> Operations:
    """Return the operations of a search on this device, in this thread.

    A GPU is never asked for the value of a flag, since the answer would wait for all that it was
    given to compute. Compiled loops run in one thread, and torch is faster in several.
    """
    if device.type != "cpu":
        by_blocks = partial(highest_sums, is_any=assume_any)
        return replace(PLAIN, highest_sums=by_blocks, is_any=assume_any)
    by_loops = loops_in_use.get() and torch.get_num_threads() == 1
    return replace(PLAIN, highest_sums=highest_sums_by_loops if by_loops else highest_sums)
