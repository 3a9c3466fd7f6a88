"""How many cores there are for us: of the machine, of its container, or as we are told."""

import math
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def processors() -> int:
    """How many cores this process may use; a part of one counts as one."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, quota(), told())))


def told() -> float:
    """What OMP_NUM_THREADS allows, which other programs of the kind heed, too."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return float(text) if text.isascii() and text.isdigit() and int(text) else math.inf


def quota() -> float:
    """The cores that a container is allowed, in either version of Linux' control groups."""
    second = words("cpu.max")
    first = words("cpu/cpu.cfs_quota_us") + words("cpu/cpu.cfs_period_us")
    for found in (second, first):  # microseconds of work in a period of so many
        if len(found) == 2 and all(word.isdigit() and int(word) for word in found):
            return int(found[0]) / int(found[1])
    return math.inf


def words(name: str) -> list[str]:
    """What stands in a file of the control group, if there is one."""
    file = CGROUPS / name
    return file.read_text(encoding="ascii").split() if file.exists() else []
