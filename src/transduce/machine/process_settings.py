"""Process-wide switches: the allocator, how OpenMP threads wait, how many threads torch uses.

Nothing here runs at import. The command line calls these at the start of a command, and
`transduce.train` unless its caller refuses.
"""

import ctypes
import os
import sys

M_MMAP_MAX, M_TRIM_THRESHOLD = -4, -1  # glibc's mallopt parameters
NEVER = 2**31 - 1


def keep_freed_memory() -> None:
    """Make glibc's allocator keep freed blocks instead of returning them to the system.

    Up to 1.9 times the training speed (2 cores, smallest model); does nothing without glibc.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, NEVER)


def use_passive_waiting() -> None:
    """Make OpenMP threads sleep while they wait, unless OMP_WAIT_POLICY is set.

    Busy waiting on a core that another program wants costs up to fifty times the time (decision
    0032). Only effective before torch is imported.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def use_threads(threads: int) -> None:
    """Set torch's number of threads for this process; it changes the last bit of results."""
    import torch

    torch.set_num_threads(threads)
