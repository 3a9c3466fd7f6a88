"""The system's limit on how many files and connections this process may have open (`ulimit -n`)."""

import math
import resource


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
