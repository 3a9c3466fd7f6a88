"""log.jsonl: what a run learns, one object a line, only ever appended to.

Events: resume, update, validation, snapshot, save, failure, finish. A `resume` at step n says
that the lines after n before it were lost with the process that wrote them; `read_journal` leaves
them out. A last line that a crash cut in half is left out, too.
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
    """Appends events; every line is handed to the system at once.

    A disk that is full may cost lines, never the training: the next line that it takes says how
    many were lost.
    """

    def __init__(self, path: Path) -> None:
        with raise_save_errors(path):
            self.torn, self.lost = not ends_with_newline(path), 0
            self.file = io.FileIO(str(path), "a", opener=not_elsewhere)

    def write(self, event: str, **facts: Any) -> None:  # noqa: ANN401 - any JSON value
        """One event, with the wall clock for people."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        known = {name: None if endless(fact) else fact for name, fact in facts.items()}
        known |= {"lost": self.lost} if self.lost else {}
        line = json.dumps({"event": event, **known, "at": stamp}) + "\n"
        whole = ("\n" + line if self.torn else line).encode()
        try:
            written = self.file.write(whole)
        except OSError:
            self.lost += 1
            return
        self.torn = written != len(whole)
        self.lost = self.lost + 1 if self.torn else 0

    def close(self) -> None:
        """No more events."""
        self.file.close()


def not_elsewhere(path: str, flags: int) -> int:
    """Open a file itself, never what a link leads to."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def endless(fact: object) -> bool:
    """JSON has no word for NaN and infinity: null stands for them."""
    return isinstance(fact, float) and not math.isfinite(fact)


def ends_with_newline(path: Path) -> bool:
    """False when a crash cut the last line in half."""
    if not path.exists() or path.stat().st_size == 0:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def read_journal(path: Path) -> list[dict[str, Any]]:
    """The events that count: none abandoned by a resume, none torn."""
    kept: list[dict[str, Any]] = []
    for event in events(path):
        if event["event"] == "resume":
            kept = [e for e in kept if e.get("step", 0) <= event["step"]]
        kept.append(event)
    return kept


def events(path: Path) -> Iterator[dict[str, Any]]:
    """Every whole line."""
    if not path.exists():
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and "event" in event:
            yield event
