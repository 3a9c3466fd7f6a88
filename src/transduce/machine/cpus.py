"""The number of CPU cores that this process may use."""

import math
import os

from transduce.machine.cgroups import read_limits


def available_cpus() -> int:
    """Return how many cores this process may use by affinity, cgroup quota and OMP_NUM_THREADS."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, math.ceil(min(cores, cgroup_cpu_quota(), omp_num_threads())))


def omp_num_threads() -> float:
    """Return the value of OMP_NUM_THREADS, or infinity if it is not set to a whole number."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return float(text) if text.isascii() and text.isdigit() and float(text) else math.inf


def cgroup_cpu_quota() -> float:
    """Return the CPU quota of this process's control groups in cores, or infinity."""
    second = read_limits("cpu.max")
    first = zip(
        read_limits("cpu/cpu.cfs_quota_us"), read_limits("cpu/cpu.cfs_period_us"), strict=False
    )
    # each pair is a quota and a period in microseconds
    pairs = (*second, *(quota + period for quota, period in first))
    allowed = (
        int(pair[0]) / int(pair[1])
        for pair in pairs
        if len(pair) == 2 and all(word.isdigit() and int(word) for word in pair)
    )
    return min(allowed, default=math.inf)
