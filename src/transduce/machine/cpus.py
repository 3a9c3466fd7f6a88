"""How many cores there are for us: of the machine, of its container, or as we are told."""

import math
import os

from transduce.machine.cgroups import words


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
    first = zip(words("cpu/cpu.cfs_quota_us"), words("cpu/cpu.cfs_period_us"), strict=False)
    pairs = (*second, *(quota + period for quota, period in first))  # microseconds, of so many
    allowed = (
        int(pair[0]) / int(pair[1])
        for pair in pairs
        if len(pair) == 2 and all(word.isdigit() and int(word) for word in pair)
    )
    return min(allowed, default=math.inf)
