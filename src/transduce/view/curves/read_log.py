"""Read a run's log.jsonl into columns: a million lines take seconds; any content is accepted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float64

from transduce.durable.verified import open_regular
from transduce.errors import InputError
from transduce.training.journal import LOG
from transduce.training.log_lines import read_line_blocks
from transduce.view.curves.run_log import (
    MARKS,
    MAX_STEP,
    RunLog,
    Updates,
    Validation,
    build_updates,
    has_step,
    join_updates,
)
from transduce.view.curves.update_lines import LogEvent, parse_lines

KNOWN = ("validation", *MARKS)


@final
@dataclass(frozen=True)
class LogPart:
    """All updates and events in a part of a log, even those that a later resume made void."""

    updates: Updates
    events: tuple[LogEvent, ...]
    unreadable: int
    size: int  # bytes up to the end of the last whole line
    tail: bytes  # a last line without a newline: cut by a crash, or not wholly written yet


def read_run_log(run: Path) -> RunLog:
    """Read a run's log without lines that a resume made void; raise InputError if there is none."""
    if not (run / LOG).exists():
        raise InputError(f"{run}: no {LOG} lies there", "a run's folder is what train -o made")
    return resolve_resumes(read_log_part(run / LOG))


def read_log_part(path: Path, begin: int = 0) -> LogPart:
    """Read a log from byte `begin`, where a line begins, to its present end."""
    part = empty_part(begin)
    parts, tail = [part], b""
    with open_regular(path) as stream:
        stream.seek(begin)
        for block in read_line_blocks(stream):
            if block.lines.endswith(b"\n"):
                parts.append(read_lines(block.lines, block.end))
            else:
                tail = block.lines
    return replace(join_parts(parts), tail=tail)


def empty_part(size: int = 0) -> LogPart:
    """Return a part of a log without lines, which ends at byte `size`."""
    return LogPart(build_updates([]), (), 0, size, b"")


def read_lines(lines: bytes, end: int) -> LogPart:
    """Parse whole lines of a log, the last of which ends at byte `end`, into a part of the log."""
    found = parse_lines(lines)
    return LogPart(build_updates(found.updates), tuple(found.events), found.unreadable, end, b"")


def join_parts(parts: Sequence[LogPart]) -> LogPart:
    """Join consecutive parts of a log to one part."""
    begins = accumulate((len(part.updates) for part in parts), initial=0)
    events = (
        LogEvent(event.position + begin, event.values)
        for begin, part in zip(begins, parts, strict=False)
        for event in part.events
    )
    updates = join_updates([part.updates for part in parts])
    unreadable = sum(part.unreadable for part in parts)
    return LogPart(updates, tuple(events), unreadable, parts[-1].size, parts[-1].tail)


def resolve_resumes(part: LogPart) -> RunLog:
    """Return a log without the lines that a later resume at an earlier step made void.

    Updates without a possible step, or not after the update before, are counted as unreadable.
    """
    if part.tail:
        part = replace(join_parts([part, read_lines(part.tail, part.size)]), tail=b"")
    events = [event for event in part.events if event.values["event"] in KNOWN]
    known = [event for event in events if is_step(event.values.get("step"))]
    possible = has_step(part.updates.step)
    counting = possible & (part.updates.step <= void_after(known, len(part.updates)))
    updates = part.updates.select(counting)
    updates = updates.select(is_increasing(updates.step))
    lost = int((possible & ~counting).sum())
    misplaced = len(part.updates) - lost - len(updates)
    kept = select_valid(known)
    return RunLog(
        updates=replace(updates, seconds=never_decreasing(updates.seconds)),
        validations=tuple(map(read_validation, select_kind(kept, "validation"))),
        marks={kind: tuple(e["step"] for e in select_kind(kept, kind)) for kind in MARKS},
        lost=lost,
        unreadable=part.unreadable + misplaced + len(events) - len(known),
        size=part.size,
    )


def is_step(value: object) -> bool:
    """Return whether a value of an event can be the number of finished updates."""
    return type(value) is int and 0 <= value <= MAX_STEP


def void_after(events: Sequence[LogEvent], count: int) -> Float64[np.ndarray, " N"]:
    """Return for each of `count` updates the lowest step of the resumes that stand after it."""
    resumes = [event for event in events if event.values["event"] == "resume"]
    positions = np.array([event.position for event in resumes], dtype=int)
    steps = np.array([*(event.values["step"] for event in resumes), np.inf], dtype=float)
    lowest = np.minimum.accumulate(steps[::-1])[::-1]
    return lowest[np.searchsorted(positions, np.arange(count), side="right")]


def select_valid(events: Sequence[LogEvent]) -> list[dict[str, Any]]:
    """Return the events that no later resume makes void (one to a lower step), in order."""
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


def never_decreasing(seconds: Float64[np.ndarray, " N"]) -> Float64[np.ndarray, " N"]:
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
