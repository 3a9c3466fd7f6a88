"""`transduce serve` as a process of its own, and what the system knows of it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.serve.running import Client


@contextmanager
def served(*models: Path, options: tuple[str, ...] = ()) -> Iterator[tuple[Client, Any]]:
    """Run the command during a with block; yield a client, and the process."""
    words = [sys.executable, "-m", "transduce", "serve", *map(str, models), "--port", "0"]
    with subprocess.Popen([*words, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Client(urlsplit(process.stdout.readline().strip()).port or 0), process
        finally:
            process.terminate()


def list_searches(process: "subprocess.Popen[str]") -> list[int]:
    """Return the ids of the search processes that a server has started and that live."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    listed = [pid for one in tasks for pid in one.read_text("utf-8").split()]
    return [int(pid) for pid in listed if b"spawn_main" in read_command(pid)]


def read_command(pid: str) -> bytes:
    """Return the command line of a process, or nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def measure_process(process: "subprocess.Popen[str]") -> tuple[float, int]:
    """Return the megabytes of memory that a server occupies, and its open files."""
    status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    (resident,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(resident) / 1024, len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
