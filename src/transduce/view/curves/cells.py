"""A run's updates as cells to draw: one update each, or 64 with their smallest and largest value.

Up to 200,000 updates each is a cell. Of more, the last 10,000 are, and those before are blocks of
64, in which the spike of a single update stays visible as the block's largest value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float64

from transduce.view.curves.run_log import Updates

BLOCK = 64  # updates of a block
MAX_SINGLE = 200_000  # so many updates are cells of their own
LAST_SINGLE = 10_000  # of more updates, so many of the last are


@final
@dataclass(frozen=True)
class Series:
    """A value of each cell: the mean of its updates, and for blocks the smallest and largest."""

    mean: Float64[np.ndarray, " C"]
    low: Float64[np.ndarray, " B"]
    high: Float64[np.ndarray, " B"]


@final
@dataclass(frozen=True)
class Cells:
    """The updates of a run as cells, of which the first `blocks` have 64 updates, the others one.

    `steps`, `tokens` and `seconds` are what a cell adds to those before it.
    """

    blocks: int
    steps: Float64[np.ndarray, " C"]
    tokens: Float64[np.ndarray, " C"]  # target tokens
    seconds: Float64[np.ndarray, " C"]
    skipped: Float64[np.ndarray, " C"]  # updates that were not finite and changed no weight
    series: Mapping[str, Series]


def count_blocks(updates: int, *, full: bool) -> int:
    """Return how many blocks of 64 are made of so many updates; none if all are to be kept."""
    return 0 if full or updates <= MAX_SINGLE else (updates - LAST_SINGLE) // BLOCK


def build_cells(updates: Updates, *, full: bool) -> Cells:
    """Return the cells of a run's updates; with `full` each update is one."""
    blocks = count_blocks(len(updates), full=full)
    values = {
        "loss": updates.nats,
        "gradient_norm": updates.gradient_norm,
        "learning_rate": updates.learning_rate,
        "speed": measure_speed(updates),
    }
    tokens = np.nan_to_num(updates.target_tokens, nan=0.0)
    return Cells(
        blocks=blocks,
        steps=add_up(np.diff(updates.step, prepend=0.0), blocks),
        tokens=add_up(tokens, blocks),
        seconds=add_up(np.diff(updates.seconds, prepend=0.0), blocks),
        skipped=add_up(1 - updates.applied, blocks),
        series={name: summarise(column, blocks) for name, column in values.items()},
    )


def measure_speed(updates: Updates) -> Float64[np.ndarray, " N"]:
    """Return the target tokens a second of each update; NaN where the clock did not move."""
    durations = np.diff(updates.seconds, prepend=0.0)
    durations[durations <= 0] = np.nan
    return updates.target_tokens / durations


def add_up(column: Float64[np.ndarray, " N"], blocks: int) -> Float64[np.ndarray, " C"]:
    """Return the sums of the first blocks of 64 values, then each later value."""
    inner = column[: blocks * BLOCK].reshape(blocks, BLOCK)
    return np.concatenate([inner.sum(axis=1), column[blocks * BLOCK :]])


def summarise(column: Float64[np.ndarray, " N"], blocks: int) -> Series:
    """Return mean, smallest and largest value of the first blocks of 64, then each later value.

    NaN does not count; a block of nothing else is NaN.
    """
    inner = column[: blocks * BLOCK].reshape(blocks, BLOCK)
    count = np.isfinite(inner).sum(axis=1)
    means = np.where(count > 0, np.nansum(inner, axis=1) / np.maximum(count, 1), np.nan)
    return Series(
        mean=np.concatenate([means, column[blocks * BLOCK :]]),
        low=np.fmin.reduce(inner, axis=1),
        high=np.fmax.reduce(inner, axis=1),
    )
