"""Computes batches of sentence pairs, and halves a batch that does not fit into memory."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
from jaxtyping import Int

from transduce.errors import NotEnoughMemoryError, is_out_of_memory

Result = TypeVar("Result")
Batch = Int[np.ndarray, " _"]  # indices of pairs


def compute_in_batches(
    batches: Iterable[Batch], compute: Callable[[Batch], Result]
) -> Iterator[tuple[Batch, Result]]:
    """Yield each batch with what `compute` returns for it; halve a batch when memory runs out."""
    pending = list(batches)[::-1]
    while pending:
        batch = pending.pop()
        try:
            result = compute(batch)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise NotEnoughMemoryError(
                    "there is not enough memory for a single pair of sentences",
                    "try shorter lines, or fewer --workers",
                ) from None
            pending += np.array_split(batch, 2)[::-1]
        else:
            yield batch, result
