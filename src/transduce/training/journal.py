"""The journal of a run, log.jsonl: one JSON object per line, append-only.

Events: resume, machine, update, validation, snapshot, checkpoint, failure, finish. When a run
resumes at step n, earlier lines about steps after n become obsolete, because a crash lost their
updates. `view/curves/read_log.py` omits obsolete lines, and lines that a crash has cut.
"""

import errno
import io
import json
import math
import os
import stat
import time
from pathlib import Path
from typing import Any, final

from transduce.durable.files import raise_save_errors
from transduce.durable.folder import open_regular

LOG = "log.jsonl"


@final
class Journal:
    """A writer that appends events to a run's log.jsonl, unbuffered.

    On a full disk lines are lost, but training continues. The next line that can be written has the
    number of lost lines in `lost_lines`.
    """

    def __init__(self, path: Path) -> None:
        with raise_save_errors(path):
            self.is_line_cut, self.lost_lines = not ends_with_newline(path), 0
            self.file = io.FileIO(str(path), "a", opener=open_for_appending)

    def write(self, event: str, **values: Any) -> None:  # noqa: ANN401 - any JSON value
        """Append an event, its values and the UTC time as a line of JSON; count a lost line.

        NaN and infinity are written as null.
        """
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        finite = {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in values.items()
        }
        finite |= {"lost_lines": self.lost_lines} if self.lost_lines else {}
        line = json.dumps({"event": event, **finite, "at": stamp}) + "\n"
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


def has_logged_checkpoint(path: Path) -> bool:
    """Return whether a journal has a checkpoint event after the run's last start at step 0."""
    if not path.exists():
        return False
    has_checkpoint = False
    with open_regular(path) as stream:
        for line in stream:
            if line.startswith(b'{"event": "checkpoint"'):
                has_checkpoint = True
            elif line.startswith(b'{"event": "resume", "step": 0,'):
                has_checkpoint = False
    return has_checkpoint


def open_for_appending(path: str, flags: int) -> int:
    """Open a regular file and return its descriptor; raise OSError for links, pipes and devices."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "this is no regular file")


def ends_with_newline(path: Path) -> bool:
    """Return whether a file ends with a newline, is empty, or does not exist."""
    if not os.path.lexists(path):
        return True
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - 1))
        return not size or stream.read(1) == b"\n"
