"""How much memory a process may use: of a GPU, of the machine, or of its container."""

import os

import torch

from transduce.machine.cgroups import words

LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # cgroup versions 2 and 1


def device_memory(device: torch.device) -> int:
    """Bytes that a run on this device may use: all of a GPU's, or `memory_bytes` on a CPU."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return memory_bytes()


def memory_bytes() -> int:
    """Bytes of memory this process may use: the machine's, or its cgroup's limit if lower."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in LIMITS:
        limits += [int(found[0]) for found in words(name) if found and found[0].isdigit()]
    return min(limits)
