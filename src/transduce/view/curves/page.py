"""The page of training curves: one file that requests nothing, or one that a server keeps live.

A run's updates are drawn as cells. In a run of at most 200,000 updates, each update is a cell.
In a longer run the first updates are joined in blocks of 64, and each block is a cell; at least
the last 10,000 updates are cells of their own.
A spike of one update stays visible as its block's largest value. The page gets a JSON header and
columns of packed float32.
"""

import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64

from transduce.checkpoint.run_file import read_run
from transduce.errors import TransduceError
from transduce.view.curves.read_log import RunLog, Updates
from transduce.view.page.document import (
    SHARED,
    DataBlock,
    build_page,
    encode_seven_bits,
    json_block,
    list_parts,
    read_texts,
    texts_block,
)

SCRIPTS = (
    *("numbers", "series", "run", "scale", "pen", "panels", "trace", "draw", "state", "readout"),
    *("app", "gestures", "controls", "export", "live", "main"),
)
PARTS = list_parts("curves", SCRIPTS, (*SHARED, "seven"))
UPDATES_OF_BLOCK = 64  # updates in a block
MAX_SINGLE = 200_000  # in a run of at most this many updates, each update is a cell
LAST_SINGLE = 10_000  # in a longer run, at least this many last updates are cells
MAX_FINITE = 3e38  # larger numbers would be infinite as float32
Column = Float64[np.ndarray, " N"]  # a number for each cell, or for each block


class Report(NamedTuple):
    """A report with curves: its title, and its tables as HTML before and after the curves."""

    title: str
    before: str
    after: str


def count_blocks(update_count: int, *, full: bool) -> int:
    """Return how many blocks of 64 updates a run begins with; 0 if `full` or if it is short."""
    is_short = full or update_count <= MAX_SINGLE
    return 0 if is_short else (update_count - LAST_SINGLE) // UPDATES_OF_BLOCK


def build_columns(updates: Updates, *, full: bool) -> tuple[int, dict[str, Column]]:
    """Group a run's first updates in blocks; return the number of blocks and the columns by name.

    A cell is a block of 64 updates, or one update after the last block; with `full` all are single.
    `steps`, `tokens`, `milliseconds` and `skipped` hold what each cell adds, not totals since the
    start. For a quantity such as loss, columns hold each cell's mean, and each block's lowest and
    highest value, rounded outwards except for the learning rate. `speed` has no mean. NaN does not
    count in these; a block of nothing but NaN is NaN.
    """
    blocks = count_blocks(len(updates), full=full)
    durations = np.diff(updates.seconds, prepend=0.0)
    durations[durations <= 0] = np.nan
    with np.errstate(over="ignore"):  # `pack_column` limits a speed that is infinite
        speed = updates.target_tokens / durations  # NaN where the clock did not move
    sums = {
        "steps": np.diff(updates.step, prepend=0.0),
        "tokens": np.nan_to_num(updates.target_tokens, nan=0.0),
        "milliseconds": np.diff(1000 * updates.seconds, prepend=0.0),  # whole ones in a log
        "skipped": 1 - updates.applied,  # updates that were not finite and changed no weight
    }
    quantities = {
        "loss": updates.nats,
        "gradient_norm": updates.gradient_norm,
        "learning_rate": updates.learning_rate,
        "speed": speed,
    }
    columns = dict[str, Column]()
    for name, values in (sums | quantities).items():
        inner = values[: blocks * UPDATES_OF_BLOCK].reshape(blocks, UPDATES_OF_BLOCK)
        rest = values[blocks * UPDATES_OF_BLOCK :]
        if name in sums:
            columns[name] = np.concatenate([inner.sum(axis=1), rest])
            continue
        if name != "speed":  # the page computes speed from tokens and seconds
            count = np.isfinite(inner).sum(axis=1)
            means = np.where(count > 0, np.nansum(inner, axis=1) / np.maximum(count, 1), np.nan)
            columns[name] = np.concatenate([means, rest])
        low, high = np.fmin.reduce(inner, axis=1), np.fmax.reduce(inner, axis=1)
        is_exact = name == "learning_rate"
        columns[f"{name}_low"] = low if is_exact else round_down(low)
        columns[f"{name}_high"] = high if is_exact else -round_down(-high)
    return blocks, columns


def round_down(values: Float64[np.ndarray, " B"]) -> Float64[np.ndarray, " B"]:
    """Round numbers down to 12 binary digits, so that they compress to about half the bytes."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.floor(fraction * 4096), exponent - 12)


def encode_run(name: str, folder: Path, log: RunLog, *, full: bool) -> tuple[dict[str, Any], bytes]:
    """Return a run's curves as (header for JSON, packed columns); `full` keeps a cell per update.

    In the header, `columns` has each column's offset, its length, and whether its numbers must be
    added up (`pack_column`). `offset` is the number of bytes of the log that were read; a live
    page asks for the bytes after these. Learning rates are left out if they follow the schedule.
    """
    blocks, cells = build_columns(log.updates, full=full)
    columns, packed, end = dict[str, tuple[int, int, bool]](), list[bytes](), 0
    recipe = None
    with suppress(TransduceError):  # without a valid run.json
        recipe = read_run(folder).recipe
    schedule = recipe and {
        "d_model": float(recipe.architecture.d_model),
        "warmup": float(recipe.training.warmup),
        "factor": recipe.training.learning_rate_factor,
    }
    follows = follows_schedule(log, schedule)
    for column, values in cells.items():
        if follows and column.startswith("learning_rate"):
            continue
        content, is_summed = pack_column(values)
        packed.append(content)
        columns[column] = (end, len(content), is_summed)
        end += len(content)
    header = {
        "name": name,
        "schedule": schedule,
        "average_last": recipe and float(recipe.training.average_last),
        "cells": len(cells["steps"]),
        "blocks": blocks,
        "block_size": UPDATES_OF_BLOCK,
        "columns": columns,
        "validations": [astuple(found) for found in log.validations],
        "marks": log.marks,
        "lost": log.lost,
        "unreadable": log.unreadable,
        "offset": log.size,
    }
    return header, b"".join(packed)


def follows_schedule(log: RunLog, schedule: Mapping[str, float] | None) -> bool:
    """Return whether all learning rates follow equation 3; false without updates or a schedule.

    A rate that is NaN does not follow it.
    """
    rates, steps = log.updates.learning_rate, log.updates.step
    if schedule is None or not len(steps) or np.isnan(rates).any():
        return False
    d_model, warmup = schedule["d_model"], schedule["warmup"]
    expected = d_model**-0.5 * np.minimum(steps**-0.5, steps * warmup**-1.5)
    return bool(np.allclose(rates, schedule["factor"] * expected, rtol=1e-6, atol=0.0))


def pack_column(values: Float64[np.ndarray, " C"]) -> tuple[bytes, bool]:
    """Compress C numbers as float32; return the bytes, and whether they hold differences.

    Differences are those of the 32-bit patterns, to be added up modulo 2^32; they are chosen if
    they take fewer bytes. Larger numbers than ±3e38 become ±3e38.
    """
    bits = np.clip(values, -MAX_FINITE, MAX_FINITE).astype("<f4").view("<u4")
    changes = np.diff(bits, prepend=np.uint32(0))
    # the first bytes of all numbers, then the second bytes, …; this order takes a third less space
    plain, summed = (
        zlib.compress(words.view(np.uint8).reshape(-1, 4).T.tobytes(), 6)
        for words in (bits, changes)
    )
    return min((plain, False), (summed, True), key=lambda packed: len(packed[0]))


def build_curves_page(
    logs: Mapping[str, tuple[Path, RunLog]],
    *,
    full: bool = False,
    events: str = "",
    report: Report | None = None,
) -> bytes:
    """Return an HTML page of runs' curves; unless `events` is "", it reads new lines at this URL.

    `full` is as in `curves`. With a `report` the page is that report, in English, and the curves
    are a part of it.
    """
    encoded = [encode_run(name, folder, log, full=full) for name, (folder, log) in logs.items()]
    header = {"format": 1, "runs": [about for about, _ in encoded], "events": events}
    blocks = [
        DataBlock(f"run-{i}", "text/plain", encode_seven_bits(columns))
        for i, (_, columns) in enumerate(encoded)
    ]
    parts = replace(PARTS, connect="'self'" if events else "'none'")
    title, language = f"Training curves: {', '.join(logs)}", ""
    if report is not None:
        parts = replace(parts, styles=(*parts.styles, "tables/tables.css"))
        title, language = report.title, "en"
    data = [texts_block(read_texts("curves"), language), json_block("curves", header), *blocks]
    page = build_page(title, parts, data, language)
    if report is not None:
        page = page.replace("<main>", f"<main>\n{report.before}", 1)
        page = page.replace("</main>", f"{report.after}\n</main>", 1)
    return page.encode()
