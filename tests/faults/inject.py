"""System calls that fail on request: strace stands between a forked training and the system."""

import contextlib
import ctypes
import mmap
import os
import re
import subprocess
import traceback
from collections.abc import Callable
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


def disturbed(act: Callable[[], str], place: Path, fault: str = "") -> Trial:
    """Fork, let strace watch, and act; `fault` is what strace calls an injection."""
    page = mmap.mmap(-1, mmap.PAGESIZE)  # the child's own writes are disturbed
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with contextlib.suppress(OSError):
                ctypes.CDLL(None).prctl(*ANYBODY, 0, 0, 0)
            os.read(ready, 1)
            page.write(told(act).encode()[: mmap.PAGESIZE])
        finally:
            os._exit(0)
    log = place / "strace.log"
    options = ["-e", "signal=none", "-e", f"trace={','.join(CALLS)}", "-s", "40"]
    options += ["-e", f"inject={fault}"] if fault else []
    command = [strace(), *options, "-o", str(log), "-p", str(child)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as watcher:
        said = watcher.stderr.readline() if watcher.stderr else ""
        os.write(go, b"1")
        os.waitpid(child, 0)
        os.close(ready)
        os.close(go)
    if "attached" not in said:
        pytest.skip(f"strace may not watch here: {said.strip()}")
    outcome = page[:].rstrip(b"\0").decode()
    return Trial(outcome, re.sub(r"^\d+ +", "", log.read_text("utf-8"), flags=re.M).splitlines())


def told(act: Callable[[], str]) -> str:
    """What it says; a fault of ours is told as such."""
    try:
        return act()
    except Exception:  # noqa: BLE001 - whatever it is, the parent must hear of it
        return traceback.format_exc()[-3000:]
