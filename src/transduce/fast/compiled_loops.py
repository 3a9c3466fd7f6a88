"""Loops over numbers, written in Python and compiled for this processor by numba (extra `fast`)

The loops of a search are in search_loops.py, which is imported only where loops are used. Loops run
in one thread, so with several threads torch's operators are faster.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# With this many rows (one per hypothesis) or more, compiled loops beat torch's operators, and
# oneDNN can be faster for 8-bit products and for attention in bfloat16. So one graph of the
# layers is traced for fewer rows, and others for this many or more.
MANY_ROWS = 64

LOOP_TYPES = torch.float32, torch.bfloat16  # the dtypes that compiled loops can read

# With these flags a loop adds numbers in any order, several at once; without them, one by one. NaN
# and infinity keep their meaning.
ANY_ORDER = frozenset({"reassoc", "contract", "arcp", "nsz"})


def has_rows_for_loops(tensor: Tensor, rows: int) -> bool:
    """Return whether compiled loops can read `tensor` and beat torch for `rows` rows."""
    return rows >= MANY_ROWS and tensor.device.type == "cpu" and tensor.dtype in LOOP_TYPES


def compile_loops(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Return `function` compiled by numba, with all operations in the order written."""
    return compile_when_called(function, fastmath=False)


def compile_sums(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    """Return `function` compiled by numba, which may add the terms of a sum in any order."""
    return compile_when_called(function, fastmath=set(ANY_ORDER))


def compile_when_called(function: Callable[..., Any], *, fastmath: set[str] | bool) -> Any:  # noqa: ANN401
    """Return `function` wrapped so that numba compiles it when first called and caches it on disk.

    Without a folder that numba can write to, every process compiles anew. The code on disk is
    renewed when the file of the function changes, so a loop calls only functions of its own file.
    `fastmath` is numba's option.
    """
    import numba

    plain = inspect.unwrap(function)  # tests wrap functions, to check the shapes of tensors
    build = functools.partial(numba.njit, plain, fastmath=fastmath, error_model="numpy", nogil=True)
    try:
        return build(cache=True)
    except RuntimeError:
        return build()
