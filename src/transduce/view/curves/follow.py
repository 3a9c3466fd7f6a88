"""Follows logs that grow. What was read of each log is kept, and only new bytes are read."""

import os
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import final

from transduce.durable.files import require_folder
from transduce.durable.folder import open_regular
from transduce.training.journal import LOG
from transduce.training.log_lines import UNREADABLE
from transduce.view.curves.read_log import (
    RUN_HINT,
    RunLog,
    empty_part,
    join_parts,
    read_cached_log,
    read_log_part,
    resolve_resumes,
)

MAX_BYTES = 1 << 20  # the largest number of new bytes that are read at once


@final
class FollowedLog:
    """A run's log file, read again as it grows; the run may be training, or not have begun."""

    def __init__(self, run: Path) -> None:
        require_folder(run, RUN_HINT)
        self.run, self.path = run, run / LOG
        self.known, self.lock = empty_part(), Lock()
        self.read()

    def read(self) -> RunLog:
        """Read the log's new lines; return the whole log without lines that a resume made void."""
        with self.lock:
            if not os.path.lexists(self.path):
                self.known = empty_part()
            elif self.known.size and has_line_end(self.path, self.known.size):
                new = read_log_part(self.path, self.known.size)
                self.known = replace(join_parts([self.known, new]), tail=b"")
            else:
                self.known = replace(read_cached_log(self.path), tail=b"")
            return resolve_resumes(self.known)


def has_line_end(path: Path, offset: int) -> bool:
    """Return whether a line of a file ends before an offset; at offset 0 always.

    If none ends there, the file was replaced after the offset was noted.
    """
    if offset == 0:
        return True
    with open_regular(path) as stream:
        stream.seek(offset - 1)
        return stream.read(1) == b"\n"


@final
class NewLines:
    """A reader of the whole lines that are written into a log after an offset."""

    def __init__(self, path: Path, offset: int) -> None:
        self.path, self.offset = path, offset
        self.searched = offset  # no line ends between `offset` and this byte

    def read(self) -> bytes | None:
        """Return the new whole lines, b"" if there are none, or None if the file was replaced.

        The offset moves behind the lines. A line of more than `MAX_BYTES` is returned as one that
        is no JSON.
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
        """Return the whole lines in the bytes `found`, read at `searched`; move the offset on."""
        begun = self.searched > self.offset  # in the middle of a line of more than MAX_BYTES
        lines, newline, _ = found.partition(b"\n") if begun else found.rpartition(b"\n")
        if newline:
            self.offset = self.searched = self.searched + len(lines) + 1
            return UNREADABLE if begun else lines
        if len(found) == MAX_BYTES:
            self.searched += MAX_BYTES
        return b""
