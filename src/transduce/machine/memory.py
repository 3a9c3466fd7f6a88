"""The memory that this process may use on a GPU, or on the machine within its control groups."""

import os
import resource

import torch

from transduce.machine.cgroups import read_limits

LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # files of cgroup versions 2 and 1


def device_memory(device: torch.device) -> int:
    """Return a CUDA GPU's total memory in bytes; for other devices, `memory_bytes()`."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return memory_bytes()


def memory_bytes() -> int:
    """Return the bytes of main memory, or this process's limit (`ulimit -v`, cgroups) if lower."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    if (most := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
        limits.append(most)
    for name in LIMITS:
        limits += [int(found[0]) for found in read_limits(name) if found and found[0].isdigit()]
    return min(limits)
