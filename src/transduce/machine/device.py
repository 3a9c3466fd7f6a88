"""The torch device to compute on: CPU, a CUDA GPU, or Apple's GPU, which is untested.

Apple's GPU has no float64, so sums on this GPU are in float32. Apple's GPU is used only if
TRANSDUCE_DEVICE is "mps".
"""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch

from transduce.errors import InputError

DEVICE_VARIABLE = "TRANSDUCE_DEVICE"
APPLE_GPU = "mps"
# The allowed values of TRANSDUCE_DEVICE, each with a function that returns whether it is available.
DEVICE_CHECKS: Mapping[str, Callable[[], bool]] = MappingProxyType(
    {
        "cpu": lambda: True,
        "cuda": lambda: torch.cuda.is_available(),
        APPLE_GPU: lambda: torch.backends.mps.is_available(),
    }
)


def select_device() -> torch.device:
    """Return the device that TRANSDUCE_DEVICE names; by default a CUDA GPU, or else the CPU."""
    asked = os.environ.get(DEVICE_VARIABLE) or ("cuda" if torch.cuda.is_available() else "cpu")
    if asked not in DEVICE_CHECKS:
        raise InputError(
            f"{DEVICE_VARIABLE}={asked} is no device", f"one of {', '.join(DEVICE_CHECKS)}"
        )
    if not DEVICE_CHECKS[asked]():
        raise InputError(
            f"{DEVICE_VARIABLE}={asked}, and torch finds no such device here",
            f"unset {DEVICE_VARIABLE}",
        )
    return torch.device(asked)


def has_fast_bfloat16(where: torch.device) -> bool:
    """Return whether a device multiplies bfloat16 matrices in hardware: a GPU, or some CPUs.

    On any other CPU torch emulates bfloat16 products, about 30 times slower than float32.
    """
    if where.type != "cpu":
        return True
    supports = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return supports is None or bool(supports())


def accumulation_dtype(where: torch.device) -> torch.dtype:
    """Return the type for sums on a device: float64, or float32 on Apple's GPU."""
    return torch.float32 if where.type == APPLE_GPU else torch.float64
