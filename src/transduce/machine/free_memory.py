"""The memory that is free on the machine and in this process's control groups (Linux only)."""

import math
import resource
from collections.abc import Iterator
from pathlib import Path

from transduce.machine.cgroups import read_limits

MEMINFO = Path("/proc/meminfo")
STATM = Path("/proc/self/statm")  # the first number is the size of the address space in pages
GROUPS = (  # files of limit, usage and statistics; first of cgroup version 2, then of version 1
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)


def free_memory_bytes() -> float:
    """Return the bytes this process may still use within all limits; infinity if none is known."""
    return min(available_bytes(), free_address_bytes(), *list_group_bytes(), math.inf)


def free_address_bytes() -> float:
    """Return how many bytes of address space `ulimit -v` still allows this process, or infinity."""
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY or not STATM.exists():
        return math.inf
    return float(most - int(STATM.read_text(encoding="ascii").split()[0]) * resource.getpagesize())


def available_bytes() -> float:
    """Return MemAvailable of /proc/meminfo in bytes, or infinity if it does not exist."""
    if not MEMINFO.exists():
        return math.inf
    lines = MEMINFO.read_text(encoding="ascii").splitlines()
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1_024.0 * int(found[0]) if found else math.inf


def list_group_bytes() -> Iterator[float]:
    """Yield the free bytes of each control group of this process; file cache counts as free."""
    for names in GROUPS:
        for limit, usage, statistics in zip(*map(read_limits, names), strict=False):
            if limit and limit[0].isdigit():
                values = dict(zip(statistics[::2], statistics[1::2], strict=False))
                used = int(usage[0]) - int(values.get("inactive_file", 0))
                yield float(int(limit[0]) - used)
