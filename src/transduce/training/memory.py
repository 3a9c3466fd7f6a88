"""How many tokens may be in memory at once: decided once, stored with the run."""

import os

import torch

from transduce.settings import Architecture
from transduce.training.containers import words

CPU = torch.device("cpu")
MOST = {"cpu": 8_192, "cuda": 1 << 20, "mps": 1 << 16}  # of both sides: more gave a CPU no speed
SHARES = {"cpu": 1 / 8, "cuda": 1 / 2, "mps": 1 / 8}  # of memory, for what the backward needs
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of both versions of control groups


def fitting_micro_tokens(
    sizes: Architecture, longest: int, memory: int, device: torch.device = CPU
) -> int:
    """As many as a share of the memory holds, but a longest pair, and no more than pay."""
    share, most = SHARES[device.type], MOST[device.type]
    return max(2 * longest, min(most, int(memory * share) // token_bytes(sizes)))


def token_bytes(sizes: Architecture) -> int:
    """About what one token keeps until the backward pass: float32, counted in rows of d_model."""
    heads = sizes.heads * (2 * sizes.d_k + sizes.d_v)
    return 4 * sizes.layers * (3 * heads + 8 * sizes.d_model + 3 * sizes.d_ff)


def device_memory(device: torch.device) -> int:
    """What a run on this device may use."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return memory_bytes()


def memory_bytes() -> int:
    """What this process may use: of the machine, or of the container or job it runs in."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in LIMITS:
        limits += [int(found[0]) for found in words(name) if found and found[0].isdigit()]
    return min(limits)
