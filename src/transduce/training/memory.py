"""How many tokens may be in memory at once: decided once, stored with the run."""

import os
from pathlib import Path

from transduce.settings import Architecture

MOST = 8_192  # of both sides: on a CPU more at once brought no speed
SHARE = 8  # an eighth of the memory is for what the backward pass needs
CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def fitting_micro_tokens(sizes: Architecture, longest: int, memory: int) -> int:
    """As many as an eighth of the memory holds, but a longest pair, and no more than pay."""
    fits = memory // SHARE // token_bytes(sizes)
    return max(2 * longest, min(MOST, fits))


def token_bytes(sizes: Architecture) -> int:
    """About what one token keeps until the backward pass: float32, counted in rows of d_model."""
    heads = sizes.heads * (2 * sizes.d_k + sizes.d_v)
    return 4 * sizes.layers * (3 * heads + 8 * sizes.d_model + 3 * sizes.d_ff)


def memory_bytes() -> int:
    """What this process may use: of the machine, or of the container it runs in."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in CGROUPS:
        text = Path(name).read_text(encoding="ascii").strip() if Path(name).exists() else ""
        limits += [int(text)] if text.isdigit() else []
    return min(limits)
