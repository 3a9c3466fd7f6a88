"""System calls that fail on request: strace stands between a forked training and the system."""

import contextlib
import ctypes
import mmap
import os
import re
import subprocess
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults.calls import strace

CALLS = ("mkdir", "openat", "write", "fsync", "rename")
ANYBODY = 0x59616D61, ctypes.c_ulong(-1)  # Linux' PR_SET_PTRACER, PR_SET_PTRACER_ANY


@dataclass(frozen=True)
class Trial:
    """What a disturbed training came to, and the calls that it made."""

    outcome: str
    calls: list[str]

    @property
    def hit(self) -> list[str]:
        """The calls that were made to fail."""
        return [line for line in self.calls if "(INJECTED)" in line]


@contextlib.contextmanager
def forked(act: Callable[[], str]) -> Iterator[tuple[int, mmap.mmap]]:
    """A child that acts when it is waited for no more, and the page on which it says the outcome.

    What it says is in memory: its own writes may be made to fail.
    """
    page = mmap.mmap(-1, mmap.PAGESIZE)
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(go)
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(*ANYBODY, 0, 0, 0)
            os.read(ready, 1)  # until the other end is closed
            page.write(outcome_or_traceback(act).encode()[: mmap.PAGESIZE])
        finally:
            os._exit(0)
    os.close(ready)
    try:
        yield child, page
    finally:
        os.close(go)
        os.waitpid(child, 0)


def outcome_of(page: mmap.mmap) -> str:
    """Return the outcome that a child wrote to its page."""
    return page[:].rstrip(b"\0").decode()


def disturbed(act: Callable[[], str], folder: Path, fault: str = "") -> Trial:
    """Fork, let strace watch, and act; `fault` is what strace calls an injection."""
    log = folder / "strace.log"
    options = ["-e", "signal=none", "-e", f"trace={','.join(CALLS)}", "-s", "40"]
    options += ["-e", f"inject={fault}"] if fault else []
    command = [strace(), *options, "-o", str(log), "-p"]
    with forked(act) as (child, page):
        watcher = subprocess.Popen([*command, str(child)], stderr=subprocess.PIPE, text=True)
        attached = watcher.stderr.readline() if watcher.stderr else ""
    watcher.communicate()
    if "attached" not in attached:
        pytest.skip(f"strace may not watch here: {attached.strip()}")
    lines = re.sub(r"^\d+ +", "", log.read_text("utf-8"), flags=re.M).splitlines()
    return Trial(outcome_of(page), lines)


def outcome_or_traceback(act: Callable[[], str]) -> str:
    """Return the outcome of an act, or the traceback of what it raised."""
    try:
        return act()
    except Exception:  # noqa: BLE001 - whatever it is, the parent must hear of it
        return traceback.format_exc()[-3000:]
