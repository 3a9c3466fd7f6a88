"""Parts of a run's log as columns, read one after another and joined; any content is accepted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import final

from transduce.durable.folder import open_regular
from transduce.training.log_lines import read_line_blocks
from transduce.view.curves.run_log import Updates, build_updates, join_updates
from transduce.view.curves.update_lines import LogEvent, parse_lines


@final
@dataclass(frozen=True)
class LogPart:
    """All updates and events in a part of a log, even those that a later resume made void."""

    updates: Updates
    events: tuple[LogEvent, ...]
    unreadable: int
    size: int  # bytes up to the end of the last whole line
    tail: bytes  # a last line without a newline: cut by a crash, or not wholly written yet


def read_log_part(
    path: Path, begin: int = 0, on_lines: Callable[[bytes], object] | None = None
) -> LogPart:
    """Read a log from byte `begin`, where a line begins, to its present end.

    `on_lines` is called with each block of whole lines.
    """
    parts, tail = [empty_part(begin)], b""
    with open_regular(path) as stream:
        stream.seek(begin)
        for block in read_line_blocks(stream):
            if block.lines.endswith(b"\n"):
                parts.append(read_lines(block.lines, block.end))
                if on_lines:
                    on_lines(block.lines)
            else:
                tail = block.lines
    return replace(join_parts(parts), tail=tail)


def empty_part(size: int = 0) -> LogPart:
    """Return a log part that has no lines and ends at byte `size`."""
    return LogPart(build_updates([]), (), 0, size, b"")


def read_lines(lines: bytes, end: int) -> LogPart:
    """Parse whole lines of a log, up to its byte `end`, into a part of the log."""
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
