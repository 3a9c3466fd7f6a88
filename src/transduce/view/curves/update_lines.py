"""Parse lines of a log: updates by a pattern, four times as fast as JSON, and the rest as JSON."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from transduce.training.log_lines import MAX_LINE_BYTES

NUMBER = rb"(?:-?\d++(?:\.\d++)?+(?:[eE][-+]?+\d++)?+|null)"
# the fields of an update that are drawn, in the order of the pattern's groups
FIELDS = (
    "step",
    "nats",
    "gradient_norm",
    "learning_rate",
    "target_tokens",
    "seconds",
    "applied",
)
# an update as training/journal.py writes it; the last group matches any other line
PATTERN = (
    rb'^(?:\{"event": "update", "step": (\d++), "loss": NUMBER, "nats": (NUMBER)'
    rb', "gradient_norm": (NUMBER), "learning_rate": (NUMBER), "source_tokens": \d++'
    rb', "target_tokens": (\d++), "seconds": (NUMBER), "applied": (true|false)'
    rb', "at": "[^"\\\n]*+"\}|(.*+))$'
)
LINE = re.compile(PATTERN.replace(b"NUMBER", NUMBER), re.MULTILINE)
UpdateFields = Sequence[bytes]  # the pattern's groups: FIELDS as JSON, then an empty one


@final
@dataclass(frozen=True)
class LogEvent:
    """An event of a log that is no update, and how many updates stand before it."""

    position: int
    values: dict[str, Any]


@final
@dataclass(frozen=True)
class ParsedLines:
    """The updates and the other events of some lines, and how many lines are no event."""

    updates: list[UpdateFields]
    events: list[LogEvent]
    unreadable: int


def parse_lines(block: bytes) -> ParsedLines:
    """Return the updates and events of a block of lines; count lines that are no event."""
    updates, events, unreadable = list[UpdateFields](), list[LogEvent](), 0
    for fields in LINE.findall(block):
        if fields[0]:
            updates.append(fields)
        elif line := fields[-1].strip():
            event = parse_event(line)
            if event is None:
                unreadable += 1
            elif event["event"] == "update":
                updates.append(encode_fields(event))
            else:
                events.append(LogEvent(len(updates), event))
    return ParsedLines(updates, events, unreadable)


def parse_event(line: bytes) -> dict[str, Any] | None:
    """Parse a line of JSON as an event; return None if it holds no event."""
    if len(line) > MAX_LINE_BYTES:
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):  # not JSON, too many digits, or too deep
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def encode_fields(event: dict[str, Any]) -> UpdateFields:
    """Encode a parsed update event as the fields that `PATTERN` finds in an update's line."""
    return [*(json.dumps(event.get(name)).encode() for name in FIELDS), b""]


def parse_numbers(column: Sequence[bytes]) -> list[float]:
    """Return the numbers of a column of JSON values; NaN for null and whatever is no number."""
    try:
        return list(map(float, column))
    except ValueError:
        return list(map(parse_number, column))


def parse_number(value: bytes) -> float:
    """Return a JSON number; NaN for null, strings, lists and whatever is no number."""
    try:
        return float(value)
    except ValueError:
        return float("nan")
