"""The curves of a run as the page reads them: a JSON header and columns of packed float32."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64, UInt32

from transduce.durable.folder import read_regular
from transduce.durable.json import from_checksummed_json
from transduce.errors import TransduceError
from transduce.view.curves.cells import BLOCK, Cells, build_cells
from transduce.view.curves.read_log import finite_number
from transduce.view.curves.run_log import RunLog

MAX_FINITE = 3e38  # larger numbers would be infinite as float32
RUN_FILE = "run.json"
RUN_FILE_BYTES = 1 << 20


def encode_run(name: str, folder: Path, log: RunLog, *, full: bool) -> tuple[dict[str, Any], bytes]:
    """Return a run's curves as (header for JSON, packed columns); `full` keeps a cell per update.

    `columns` in the header has for each column its offset, its length, and whether its numbers must
    be added up (`pack_column`). `offset` is the number of bytes of the log that were read; a live
    page asks for the bytes after it.
    """
    cells = build_cells(log.updates, full=full)
    columns, packed, end = dict[str, tuple[int, int, bool]](), list[bytes](), 0
    schedule = read_schedule(folder)
    follows = follows_schedule(log, schedule)
    for column, values in list_columns(cells):
        if follows and column.startswith("learning_rate"):
            continue
        content, is_summed = pack_column(values)
        packed.append(content)
        columns[column] = (end, len(content), is_summed)
        end += len(content)
    header = {
        "name": name,
        "schedule": schedule,
        "average_last": read_average_last(folder),
        "cells": len(cells.steps),
        "blocks": cells.blocks,
        "block_size": BLOCK,
        "columns": columns,
        "validations": [astuple(found) for found in log.validations],
        "marks": log.marks,
        "lost": log.lost,
        "unreadable": log.unreadable,
        "offset": log.size,
    }
    return header, b"".join(packed)


def follows_schedule(log: RunLog, schedule: Mapping[str, float] | None) -> bool:
    """Return whether all logged learning rates follow equation 3, so that none must be stored."""
    rates, steps = log.updates.learning_rate, log.updates.step
    if schedule is None or not len(steps) or np.isnan(rates).any():
        return False
    d_model, warmup = schedule["d_model"], schedule["warmup"]
    expected = d_model**-0.5 * np.minimum(steps**-0.5, steps * warmup**-1.5)
    return bool(np.allclose(rates, schedule["factor"] * expected, rtol=1e-6, atol=0.0))


def list_columns(cells: Cells) -> Iterator[tuple[str, Float64[np.ndarray, " _"]]]:
    """Yield the columns of a run's cells, each with the name that the page's script expects."""
    for name in ("steps", "tokens", "milliseconds", "skipped"):
        yield name, getattr(cells, name)
    for name, series in cells.series.items():
        if name != "speed":  # the page computes speed from tokens and seconds
            yield name, series.mean
        yield f"{name}_low", series.low if name == "learning_rate" else round_down(series.low)
        yield f"{name}_high", series.high if name == "learning_rate" else -round_down(-series.high)


def round_down(values: Float64[np.ndarray, " B"]) -> Float64[np.ndarray, " B"]:
    """Return numbers rounded down to 12 binary digits, which compress to about half the bytes."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.floor(fraction * 4096), exponent - 12)


def pack_column(values: Float64[np.ndarray, " C"]) -> tuple[bytes, bool]:
    """Compress C numbers as float32, or the differences of their 32 bits if these take less space.

    Return the compressed bytes, and whether they are differences, to be added up modulo 2^32.
    """
    bits = np.clip(values, -MAX_FINITE, MAX_FINITE).astype("<f4").view("<u4")
    plain, changes = compress_words(bits), compress_words(np.diff(bits, prepend=np.uint32(0)))
    return min((plain, False), (changes, True), key=lambda packed: len(packed[0]))


def compress_words(words: UInt32[np.ndarray, " C"]) -> bytes:
    """Compress C words of 32 bits with zlib, first all their first bytes, then all second ones, ….

    Similar bytes are then neighbours, and the result is a third smaller.
    """
    return zlib.compress(words.view(np.uint8).reshape(-1, 4).T.tobytes(), 6)


def read_schedule(folder: Path) -> dict[str, float] | None:
    """Return equation 3's d_model, warmup and factor for a run; None without a valid run.json."""
    recipe = read_recipe(folder)
    paths = {
        "d_model": ("architecture", "d_model"),
        "warmup": ("training", "warmup"),
        "factor": ("training", "learning_rate_factor"),
    }
    found = {name: finite_number(get_nested(recipe, *path)) for name, path in paths.items()}
    known = {name: value for name, value in found.items() if value is not None and value > 0}
    return known if len(known) == len(paths) else None


def read_average_last(folder: Path) -> float | None:
    """Return how many snapshots a run's model averages; None without a valid run.json."""
    return finite_number(get_nested(read_recipe(folder), "training", "average_last"))


def read_recipe(folder: Path) -> object:
    """Return a run's recipe as parsed JSON; None without a valid run.json."""
    file = folder / RUN_FILE
    try:
        return from_checksummed_json(read_regular(file, RUN_FILE_BYTES), file).get("recipe")
    except TransduceError:
        return None


def get_nested(tables: object, *path: str) -> object:
    """Return the value at a path of names in nested JSON objects, or None."""
    for name in path:
        tables = tables.get(name) if isinstance(tables, dict) else None
    return tables
