"""The journal of a run, log.jsonl: one JSON object per line, append-only.

Events: resume, machine, update, validation, snapshot, checkpoint, failure, finish. When a run
resumes at step n, earlier lines about steps after n are obsolete: their updates were lost in a
crash. `read_journal` omits obsolete lines, and lines that a crash has cut.
"""

import io
import json
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

from transduce.durable.write_errors import raise_save_errors

LOG = "log.jsonl"


@final
class Journal:
    """The open journal of a run, log.jsonl, to which events are appended unbuffered.

    On a full disk lines are lost, but training continues: the next line that can be written has
    `lost_lines`, the number of lost lines.
    """

    def __init__(self, path: Path) -> None:
        with raise_save_errors(path):
            self.is_line_cut, self.lost_lines = not ends_with_newline(path), 0
            self.file = io.FileIO(str(path), "a", opener=open_without_following_links)

    def write(self, event: str, **values: Any) -> None:  # noqa: ANN401 - any JSON value
        """Append one event as a line of JSON, with these values and the time in UTC."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        known = {name: None if is_not_finite(value) else value for name, value in values.items()}
        known |= {"lost_lines": self.lost_lines} if self.lost_lines else {}
        line = json.dumps({"event": event, **known, "at": stamp}) + "\n"
        whole = ("\n" + line if self.is_line_cut else line).encode()
        try:
            written = self.file.write(whole)
        except OSError:
            self.lost_lines += 1
            return
        self.is_line_cut = written != len(whole)
        self.lost_lines = self.lost_lines + 1 if self.is_line_cut else 0

    def close(self) -> None:
        """Close the journal's file."""
        self.file.close()


def open_without_following_links(path: str, flags: int) -> int:
    """Open a file and return its descriptor; raise OSError if the path is a symbolic link."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def is_not_finite(value: object) -> bool:
    """Return whether a value is NaN or infinite, which the journal stores as null."""
    return isinstance(value, float) and not math.isfinite(value)


def ends_with_newline(path: Path) -> bool:
    """Return whether a file ends with a newline; an absent or empty file counts as if it did."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the events of a journal, without cut lines and events that a resume made obsolete."""
    kept: list[dict[str, Any]] = []
    for event in read_all_events(path):
        if event["event"] == "resume":
            kept = [e for e in kept if e.get("step", 0) <= event["step"]]
        kept.append(event)
    return kept


def read_all_events(path: Path) -> Iterator[dict[str, Any]]:
    """Yield all events of a journal, also those that a resume made obsolete; skip broken lines."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            yield event
