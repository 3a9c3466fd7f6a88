"""Read a run's log.jsonl into columns, without the lines that a later resume made void."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from transduce.durable.files import require_folder
from transduce.errors import InputError
from transduce.training.journal import LOG
from transduce.view.curves.log_cache import read_cached_log
from transduce.view.curves.log_part import LogPart, join_parts, read_lines
from transduce.view.curves.run_log import (
    MARKS,
    MAX_STEP,
    RunLog,
    Validation,
    has_step,
)
from transduce.view.curves.update_lines import LogEvent

RUN_HINT = "name the folder of a run"
KNOWN = ("validation", *MARKS)


def read_run_log(run: Path) -> RunLog:
    """Read a run's log without lines that a resume made void; raise InputError if there is none."""
    require_folder(run, RUN_HINT)
    if not (run / LOG).exists():
        raise InputError(f"{run}: no {LOG} lies there", RUN_HINT)
    return resolve_resumes(read_cached_log(run / LOG))


def resolve_resumes(part: LogPart) -> RunLog:
    """Return a log without the lines that a later resume at an earlier step made void.

    Updates without a possible step, or not after the update before, are counted as unreadable.
    """
    if part.tail:
        part = replace(join_parts([part, read_lines(part.tail, part.size)]), tail=b"")
    events = [event for event in part.events if event.values["event"] in KNOWN]
    known = [event for event in events if is_step(event.values.get("step"))]
    possible = has_step(part.updates.step)
    counting = possible & (part.updates.step <= find_later_resumes(known, len(part.updates)))
    updates = part.updates.select(counting)
    updates = updates.select(is_increasing(updates.step))
    lost = int((possible & ~counting).sum())
    misplaced = len(part.updates) - lost - len(updates)
    kept = select_valid(known)
    return RunLog(
        updates=replace(updates, seconds=make_non_decreasing(updates.seconds)),
        validations=tuple(map(read_validation, select_kind(kept, "validation"))),
        marks={kind: tuple(e["step"] for e in select_kind(kept, kind)) for kind in MARKS},
        lost=lost,
        unreadable=part.unreadable + misplaced + len(events) - len(known),
        size=part.size,
    )


def is_step(value: object) -> bool:
    """Return whether a value of an event can be the number of finished updates."""
    return type(value) is int and 0 <= value <= MAX_STEP


def find_later_resumes(events: Sequence[LogEvent], count: int) -> Float64[np.ndarray, " N"]:
    """Return for each of `count` updates the lowest step of the resumes after it, or infinity."""
    resumes = [event for event in events if event.values["event"] == "resume"]
    positions = np.array([event.position for event in resumes], dtype=int)
    steps = np.array([*(event.values["step"] for event in resumes), np.inf], dtype=float)
    lowest = np.minimum.accumulate(steps[::-1])[::-1]
    return lowest[np.searchsorted(positions, np.arange(count), side="right")]


def select_valid(events: Sequence[LogEvent]) -> list[dict[str, Any]]:
    """Return, in order, the events that no later resume to a lower step makes void."""
    kept, lowest = list[dict[str, Any]](), MAX_STEP
    for event in reversed(events):
        step = event.values["step"]
        if step <= lowest:
            kept.append(event.values)
        if event.values["event"] == "resume":
            lowest = min(lowest, step)
    return kept[::-1]


def is_increasing(steps: Float64[np.ndarray, " N"]) -> Bool[np.ndarray, " N"]:
    """Return for each of N steps whether it is greater than all earlier steps in the list."""
    before = np.concatenate([[0.0], np.maximum.accumulate(steps)[:-1]])[: len(steps)]
    return steps > before


def make_non_decreasing(seconds: Float64[np.ndarray, " N"]) -> Float64[np.ndarray, " N"]:
    """Return a clock's N readings with NaN and decreases replaced by the highest reading so far."""
    return np.fmax.accumulate(np.fmax(seconds, 0.0))


def select_kind(events: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Return the events of one kind, such as "validation"."""
    return [event for event in events if event["event"] == kind]


def read_validation(event: dict[str, Any]) -> Validation:
    """Return the validation in an event of a log; values that are no finite numbers become None."""
    score = event.get("score")
    score = score if isinstance(score, dict) else {}
    name = score.get("name")
    return Validation(
        step=event["step"],
        nats=finite_number(event.get("nats")),
        score=finite_number(score.get("value")),
        score_name=name if isinstance(name, str) else None,
    )


def finite_number(value: object) -> float | None:
    """Return a JSON value as a number, or None if it is no number or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
