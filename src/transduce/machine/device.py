"""Where torch computes: a GPU, the processor, or Apple's GPU, which is untested.

Apple's has no float64, so sums are made in float32 there. It is taken only when it is asked for.
"""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch

from transduce.errors import InputError

ASKED = "TRANSDUCE_DEVICE"
APPLES = "mps"
KINDS: Mapping[str, Callable[[], bool]] = MappingProxyType(  # and whether one is here
    {
        "cpu": lambda: True,
        "cuda": lambda: torch.cuda.is_available(),
        APPLES: lambda: torch.backends.mps.is_available(),
    }
)


def device() -> torch.device:
    """What TRANSDUCE_DEVICE says, else a GPU where there is one."""
    asked = os.environ.get(ASKED) or ("cuda" if torch.cuda.is_available() else "cpu")
    if asked not in KINDS:
        raise InputError(f"{ASKED}={asked} is no device", f"one of {', '.join(KINDS)}")
    if not KINDS[asked]():
        raise InputError(f"{ASKED}={asked}, and torch finds no such device here", f"unset {ASKED}")
    return torch.device(asked)


def sums_in(where: torch.device) -> torch.dtype:
    """The kind of number with the most digits that a device has."""
    return torch.float32 if where.type == APPLES else torch.float64
