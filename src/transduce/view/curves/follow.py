"""Follow logs that grow: what is known of each is kept, and only new bytes are read."""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import final

from transduce.durable.verified import open_regular
from transduce.errors import InputError
from transduce.training.journal import LOG
from transduce.training.log_lines import UNREADABLE
from transduce.view.curves.read_log import (
    LogPart,
    empty_part,
    join_parts,
    read_log_part,
    resolve_resumes,
)
from transduce.view.curves.run_log import RunLog

MAX_BYTES = 1 << 20  # so many new bytes are sent at once


@final
class FollowedLog:
    """The log of a run that may still be training, or may not even have begun."""

    def __init__(self, run: Path) -> None:
        if not run.is_dir():
            raise InputError("no such folder", "name the run's folder, as train -o does", file=run)
        self.run, self.path = run, run / LOG
        self.known, self.lock = empty_part(), Lock()
        self.read()

    def read(self) -> RunLog:
        """Return what counts of the log as it is now; the whole is read only the first time."""
        with self.lock:
            if not os.path.lexists(self.path):
                self.known = empty_part()
            elif has_line_end(self.path, self.known.size):
                self.known = self.extended(self.known)
            else:
                self.known = self.extended(empty_part())
            return resolve_resumes(self.known)

    def extended(self, known: LogPart) -> LogPart:
        """Return what is known with what was written since; a line in writing is left for later."""
        part = join_parts([known, read_log_part(self.path, known.size)])
        return LogPart(part.updates, part.events, part.unreadable, part.size, b"")


def has_line_end(path: Path, offset: int) -> bool:
    """Return whether a line of a file ends at an offset; at 0 always. No: the file is another."""
    if offset == 0:
        return True
    with open_regular(path) as stream:
        stream.seek(offset - 1)
        return stream.read(1) == b"\n"


@final
class NewLines:
    """The lines of a log after an offset, as they are written."""

    def __init__(self, path: Path, offset: int) -> None:
        self.path, self.offset = path, offset
        self.searched = offset  # up to here, there is no end of the line at `offset`

    def read(self) -> bytes | None:
        """Return new whole lines, perhaps none, and move the offset behind them.

        None: no line ends at the offset, so that the file is another than before. A line of more
        than `MAX_BYTES` is returned as one that is no JSON.
        """
        if not os.path.lexists(self.path):
            return b"" if self.offset == 0 else None
        if not has_line_end(self.path, self.offset):
            return None
        with open_regular(self.path) as stream:
            stream.seek(self.searched)
            found = stream.read(MAX_BYTES)
        return self.take(found)

    def take(self, found: bytes) -> bytes:
        """Return the whole lines of what was read at `searched`, and move the offset."""
        begun = self.searched > self.offset  # in the middle of a line that is too long
        lines, newline, _ = found.partition(b"\n") if begun else found.rpartition(b"\n")
        if newline:
            self.offset = self.searched = self.searched + len(lines) + 1
            return UNREADABLE if begun else lines
        if len(found) == MAX_BYTES:
            self.searched += MAX_BYTES
        return b""


def list_followed(runs: Sequence[Path]) -> list[FollowedLog]:
    """Begin to follow the logs of runs."""
    return [FollowedLog(run) for run in runs]
