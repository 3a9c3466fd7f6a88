"""Loops over numbers in Python, compiled for this processor by numba, the extra `fast`.

Modules of such loops are named `…_loops.py`; they are imported where `runs_compiled_loops` is true.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

# Sums may be added in any order, several numbers at once: else a loop adds one at a time. NaN and
# infinity keep their meaning.
REORDERED = frozenset({"reassoc", "contract", "arcp", "nsz"})

# Rows, one for each hypothesis, from which another way of computing is the faster one: compiled
# loops, whose compiler takes tenths of a second to load; 8-bit products and attention in bfloat16
# by oneDNN. So a graph of the layers is for fewer rows or for more, not for both.
MANY_ROWS = 64

# Times that loops could have been taken until they are: to load numba and what it compiled takes
# most of a second, which some seconds of a search gain. A step has two for each layer and two more.
USES_BEFORE = 3_000


@final
@dataclass
class Countdown:
    """How many more times a process does without compiled loops."""

    left: int = USES_BEFORE


countdown = Countdown()


@functools.cache
def has_loop_compiler() -> bool:
    """Return whether numba is installed and compiles."""
    try:
        import numba
    except ImportError:  # it is not installed, or does not fit this numpy
        return False
    return not getattr(numba.config, "DISABLE_JIT", 0)  # it leaves loops to the interpreter


def compile_loops(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile a function of numbers and arrays when it is first called; keep the result on disk.

    Where nothing can be written, it is compiled anew in every process.
    """
    import numba

    plain = inspect.unwrap(function)  # tests wrap functions, to check the shapes of tensors
    build = functools.partial(
        numba.njit, plain, fastmath=set(REORDERED), error_model="numpy", nogil=True
    )
    try:
        return build(cache=True)
    except RuntimeError:
        return build()


@contextmanager
def without_compiled_loops() -> Iterator[None]:
    """Take no loops meanwhile: the results do not depend on what the process searched before."""
    left, countdown.left = countdown.left, sys.maxsize
    try:
        yield
    finally:
        countdown.left = left


def runs_compiled_loops(tensor: Tensor, rows: int) -> bool:
    """Return whether compiled loops are the faster way for a tensor of so many rows.

    Loops run in one thread, so torch's operators are faster with several threads, and in a search
    that ends before loops are loaded.
    """
    if rows < MANY_ROWS or tensor.device.type != "cpu" or torch.get_num_threads() > 1:
        return False
    if countdown.left > 0:
        countdown.left -= 1
        return False
    return has_loop_compiler()
