"""A run's updates as cells to draw: one update each, or 64 with their smallest and largest value.

In a run of at most 200,000 updates each is a cell. In a longer run each of the last 10,000 is one,
and the earlier updates are joined to blocks of 64, in which the spike of a single update stays
visible as the block's largest value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float64

from transduce.view.curves.run_log import Updates

BLOCK = 64  # updates of a block
MAX_SINGLE = 200_000  # up to this many updates of a run, each update is a cell
LAST_SINGLE = 10_000  # in a longer run, each of this many last updates is a cell


@final
@dataclass(frozen=True)
class Series:
    """One quantity, such as loss: its mean in C cells, its minimum and maximum in B blocks."""

    mean: Float64[np.ndarray, " C"]
    low: Float64[np.ndarray, " B"]
    high: Float64[np.ndarray, " B"]


@final
@dataclass(frozen=True)
class Cells:
    """A run's updates as C cells: the first `blocks` cells hold 64 updates each, the others one.

    `steps`, `tokens` and `milliseconds` are those of a cell alone, not counted from the start.
    """

    blocks: int
    steps: Float64[np.ndarray, " C"]
    tokens: Float64[np.ndarray, " C"]  # target tokens
    milliseconds: Float64[np.ndarray, " C"]  # a log has no shorter times
    skipped: Float64[np.ndarray, " C"]  # updates that were not finite and changed no weight
    series: Mapping[str, Series]


def count_blocks(updates: int, *, full: bool) -> int:
    """Return how many blocks of 64 a run's first updates are joined into; 0 if `full`."""
    return 0 if full or updates <= MAX_SINGLE else (updates - LAST_SINGLE) // BLOCK


def build_cells(updates: Updates, *, full: bool) -> Cells:
    """Join a run's updates into cells; with `full`, each update is a cell."""
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
        milliseconds=add_up(np.diff(1000 * updates.seconds, prepend=0.0), blocks),
        skipped=add_up(1 - updates.applied, blocks),
        series={name: summarise(column, blocks) for name, column in values.items()},
    )


def measure_speed(updates: Updates) -> Float64[np.ndarray, " N"]:
    """Return the target tokens per second of N updates; NaN where the clock did not move."""
    durations = np.diff(updates.seconds, prepend=0.0)
    durations[durations <= 0] = np.nan
    return updates.target_tokens / durations


def add_up(column: Float64[np.ndarray, " N"], blocks: int) -> Float64[np.ndarray, " C"]:
    """Return the sums of the first `blocks` blocks of 64 values, then each later value."""
    inner = column[: blocks * BLOCK].reshape(blocks, BLOCK)
    return np.concatenate([inner.sum(axis=1), column[blocks * BLOCK :]])


def summarise(column: Float64[np.ndarray, " N"], blocks: int) -> Series:
    """Return mean, minimum and maximum of the first `blocks` blocks of 64, then all later values.

    NaN does not count; a block of NaN only is NaN.
    """
    inner = column[: blocks * BLOCK].reshape(blocks, BLOCK)
    count = np.isfinite(inner).sum(axis=1)
    means = np.where(count > 0, np.nansum(inner, axis=1) / np.maximum(count, 1), np.nan)
    return Series(
        mean=np.concatenate([means, column[blocks * BLOCK :]]),
        low=np.fmin.reduce(inner, axis=1),
        high=np.fmax.reduce(inner, axis=1),
    )
