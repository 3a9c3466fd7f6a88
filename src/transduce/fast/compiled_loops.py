"""Loops over numbers in Python, compiled for this processor by numba, the extra `fast`

Modules of such loops are named `…_loops.py`; they are imported only where loops are used. Loops run
in one thread, so torch's operators are faster with several.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# Rows, one for each hypothesis, from which another way of computing is the faster one: compiled
# loops; 8-bit products and attention in bfloat16 by oneDNN. So a graph of the layers is for fewer
# rows or for more, not for both.
MANY_ROWS = 64

LOOP_TYPES = torch.float32, torch.bfloat16  # of tensors that compiled loops read

# With these flags numbers are added in any order, several at once: else a loop adds one at a time.
# NaN and infinity keep their meaning.
ANY_ORDER = frozenset({"reassoc", "contract", "arcp", "nsz"})


def has_rows_for_loops(tensor: Tensor, rows: int) -> bool:
    """Return whether a tensor with so many rows is computed faster by compiled loops."""
    return rows >= MANY_ROWS and tensor.device.type == "cpu" and tensor.dtype in LOOP_TYPES


def compile_loops(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile a function of numbers and arrays, each operation as it is written."""
    return compile_when_called(function, fastmath=False)


def compile_sums(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Compile a function of numbers and arrays, whose sums may be added in any order."""
    return compile_when_called(function, fastmath=set(ANY_ORDER))


def compile_when_called(function: Callable[..., Any], *, fastmath: set[str] | bool) -> Any:  # noqa: ANN401
    """Compile a function when it is first called, and keep the machine code on disk.

    Where numba finds no folder to write to, every process compiles anew. The code on disk is
    renewed when the file of the function changes, so a loop calls only functions of its own file.
    """
    import numba

    plain = inspect.unwrap(function)  # tests wrap functions, to check the shapes of tensors
    build = functools.partial(numba.njit, plain, fastmath=fastmath, error_model="numpy", nogil=True)
    try:
        return build(cache=True)
    except RuntimeError:
        return build()


def load_loops() -> bool:
    """Load or compile the loops of a search; False if they fail or torch has several threads."""
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
    from transduce.fast.loop_operators import LOOP_OPERATOR, log_softmax_by_loops
    from transduce.fast.softmax_loops import POSITIONS_AT_ONCE

    for dtype in LOOP_TYPES:
        sides = torch.zeros(MANY_ROWS, 1, POSITIONS_AT_ONCE, 1, dtype=dtype)
        LOOP_OPERATOR(sides, sides, sides, sides.transpose(2, 3))
    log_probs = log_softmax_by_loops(torch.zeros(MANY_ROWS, 2))
    highest_sums_by_loops(torch.zeros(MANY_ROWS, 1), log_probs, 1)
