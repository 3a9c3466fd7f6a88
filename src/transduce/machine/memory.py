"""The memory that this process may use: of a GPU, of the machine, or of its control group."""

import os

import torch

from transduce.machine.cgroups import read_limits

LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # cgroup versions 2 and 1


def device_memory(device: torch.device) -> int:
    """Return the bytes that a run on a device may use: a GPU's total, or `memory_bytes`."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return memory_bytes()


def memory_bytes() -> int:
    """Return the bytes of main memory that this process may use, cgroup limits included."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in LIMITS:
        limits += [int(found[0]) for found in read_limits(name) if found and found[0].isdigit()]
    return min(limits)
