"""What this process may use: memory, CPU cores, threads and open files.

The limits are those of the machine, of `ulimit`, and of Linux control groups (versions 1 and 2),
which limit containers and cluster jobs.
"""

import functools
import math
import os
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

from transduce.errors import find_exhaustion, find_spent_address_space, free_address_bytes

CGROUP_ROOT = Path("/sys/fs/cgroup")
PROC_SELF_CGROUP = Path("/proc/self/cgroup")  # lists the control groups of this process


def read_limits(name: str) -> Iterator[list[str]]:
    """Yield the words of the file `name` of this process's control group, then of each outer group.

    `name` is the file name in version 2, such as `memory.max`; in version 1 the controller precedes
    the file name, as in `memory/memory.limit_in_bytes`.
    """
    controller, _, file = name.rpartition("/")
    for group in control_groups(controller):
        path = CGROUP_ROOT / controller / group / file
        if path.is_file():
            yield path.read_text(encoding="ascii").split()


def control_groups(controller: str) -> list[str]:
    """Return the paths of this process's control group and its ancestors; ["."] if unknown."""
    is_known = PROC_SELF_CGROUP.exists()
    text = os.fsdecode(PROC_SELF_CGROUP.read_bytes()) if is_known else ""
    for line in filter(None, text.split("\n")):
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):  # both are "" in cgroup version 2
            own = Path(path.lstrip("/"))
            return [str(own), *map(str, own.parents)]
    return ["."]


def available_cpus() -> int:
    """Return how many cores this process may use by affinity, cgroup quota and OMP_NUM_THREADS."""
    return max(1, math.ceil(min(count_cores(), cgroup_cpu_quota(), omp_num_threads())))


def count_cores() -> int:
    """Return how many cores this process may run on by its affinity, or all cores."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1


def omp_num_threads() -> float:
    """Return the value of OMP_NUM_THREADS, or infinity if it is not set to a whole number."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return float(text) if text.isascii() and text.isdigit() and float(text) else math.inf


def cgroup_cpu_quota() -> float:
    """Return how many cores this process's control groups allow, or infinity without a quota."""
    version_2 = read_limits("cpu.max")
    version_1 = zip(
        read_limits("cpu/cpu.cfs_quota_us"), read_limits("cpu/cpu.cfs_period_us"), strict=False
    )
    # each pair is a quota and a period in microseconds
    pairs = (*version_2, *(quota + period for quota, period in version_1))
    allowed = (
        int(pair[0]) / int(pair[1])
        for pair in pairs
        if len(pair) == 2 and all(word.isdigit() and int(word) for word in pair)
    )
    return min(allowed, default=math.inf)


MEMINFO = Path("/proc/meminfo")
GROUPS = (  # files of limit, usage and statistics; first of cgroup version 2, then of version 1
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)


def free_memory_bytes() -> float:
    """Return the bytes this process may still use within all limits; infinity if none is known."""
    return min(available_bytes(), free_address_bytes(), *list_group_bytes(), math.inf)


def available_bytes() -> float:
    """Return MemAvailable of /proc/meminfo in bytes, or infinity if it does not exist."""
    if not MEMINFO.exists():
        return math.inf
    lines = MEMINFO.read_text(encoding="ascii").splitlines()
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1_024.0 * int(found[0]) if found else math.inf


def list_group_bytes() -> Iterator[float]:
    """Yield the free bytes of each control group of this process that has a limit.

    Inactive file cache counts as free.
    """
    for names in GROUPS:
        for limit, usage, statistics in zip(*map(read_limits, names), strict=False):
            if limit and limit[0].isdigit():
                values = dict(zip(statistics[::2], statistics[1::2], strict=False))
                used = int(usage[0]) - int(values.get("inactive_file", 0))
                yield float(int(limit[0]) - used)


def memory_bytes() -> int:
    """Return the bytes of main memory, or this process's limit (`ulimit -v`, cgroups) if lower."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    if (most := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
        limits.append(most)
    for name, _, _ in GROUPS:
        limits += [int(found[0]) for found in read_limits(name) if found and found[0].isdigit()]
    return min(limits)


def raise_open_file_limit(wanted: int) -> None:
    """Raise this process's limit to `wanted` open files, or as far as the system allows."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and now < wanted:
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))


def open_file_limit() -> float:
    """Return how many files this process may have open at once, or infinity."""
    now = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return math.inf if now == resource.RLIM_INFINITY else float(now)


def require_threads(count: int) -> None:
    """Start `count` threads and end them; raise NotEnoughMemoryError if one cannot be started.

    The same error is raised if `ulimit -v` leaves too little memory for threads and libraries. Call
    this before libraries start threads: if they cannot, OpenMP's ends the process, and the
    tokeniser's prints a stack trace.
    """
    if spent := find_spent_address_space():
        raise spent
    end, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(count):
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        raise find_exhaustion(error) or error from None
    finally:
        end.set()
        for thread in started:
            thread.join()


@functools.cache
def require_encoding_threads() -> None:
    """Raise NotEnoughMemoryError unless a thread to encode text can be started for each core."""
    require_threads(count_cores())
