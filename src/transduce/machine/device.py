"""The torch device to compute on: CPU, a CUDA GPU, or Apple's GPU, which is untested; its speed.

Apple's GPU has no float64, so sums on it are in float32. It is used only if TRANSDUCE_DEVICE is
"mps".
"""

import functools
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor

from transduce.errors import InputError
from transduce.machine.limits import memory_bytes

CPU_FACTS = Path("/proc/cpuinfo")  # a file that only Linux has


@final
@dataclass(frozen=True)
class Processor:
    """A CPU's vendor, instruction sets and name; empty on systems that do not report them."""

    vendor: str = ""  # such as "GenuineIntel" or "AuthenticAMD"
    features: frozenset[str] = frozenset()  # names as in Linux, such as "avx2", "avx512_vnni"
    model: str = field(default="", compare=False)  # its name, such as "AMD EPYC 9B45"


@functools.cache
def read_processor() -> Processor:
    """Return vendor, features and name of this machine's CPU, or an empty `Processor`."""
    try:
        return parse_processor(CPU_FACTS.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return Processor()


def parse_processor(text: str) -> Processor:
    """Return the first processor in the text of Linux's /proc/cpuinfo."""
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    features = frozenset(facts.get("flags", "").split())
    return Processor(facts.get("vendor_id", ""), features, facts.get("model name", ""))


DEVICE_VARIABLE = "TRANSDUCE_DEVICE"
APPLE_GPU = "mps"
# The allowed values of TRANSDUCE_DEVICE, each with a function that returns whether it is available.
DEVICE_CHECKS: Mapping[str, Callable[[], bool]] = {
    "cpu": lambda: True,
    "cuda": lambda: torch.cuda.is_available(),
    APPLE_GPU: lambda: torch.backends.mps.is_available(),
}


def select_device() -> torch.device:
    """Return TRANSDUCE_DEVICE's device, else CUDA if present, else CPU; refuse a missing device."""
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
    """Return whether a device multiplies matrices in bfloat16 faster than in float32.

    GPUs do, and some CPUs. On a CPU without bfloat16 instructions torch emulates them, about 30
    times slower than float32. Intel's CPUs with such instructions but without AMX reach half
    the rate of float32 (decision 0041).
    """
    if where.type != "cpu":
        return True
    processor = read_processor()
    if processor.vendor == "GenuineIntel" and "amx_bf16" not in processor.features:
        return False
    supports = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return supports is None or bool(supports())


def accumulation_dtype(where: torch.device) -> torch.dtype:
    """Return the type for sums on a device: float64, or float32 on Apple's GPU."""
    return torch.float32 if where.type == APPLE_GPU else torch.float64


def convert_to_lists(tensors: Sequence[Tensor]) -> list[Any]:
    """Return each tensor's numbers as `tolist` does, but copy all tensors from the device at once.

    Integers must be below 2^53, or 2^24 on Apple's GPU.
    """
    dtype = accumulation_dtype(tensors[0].device)
    numbers = torch.cat([tensor.flatten().to(dtype) for tensor in tensors]).cpu()
    parts = numbers.split([tensor.numel() for tensor in tensors])
    return [
        part.view(tensor.shape).to(tensor.dtype).tolist()
        for part, tensor in zip(parts, tensors, strict=True)
    ]


def device_memory(device: torch.device) -> int:
    """Return a CUDA GPU's total memory in bytes; for other devices, `memory_bytes()`."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return memory_bytes()


# the matrices whose product is timed: enough rows to use the whole device, and this many columns
RATE_ROWS, RATE_WIDTH = {"cpu": 1_024, "cuda": 16_384}, 1_024


def measure_matmul_rate(device: torch.device, precision: str) -> float:
    """Return a device's floating-point operations per second in a matrix product (median of 3)."""
    kind, rows = getattr(torch, precision), RATE_ROWS.get(device.type, RATE_ROWS["cpu"])
    a = torch.ones(rows, RATE_WIDTH // 2, dtype=kind, device=device)
    b = torch.ones(RATE_WIDTH // 2, RATE_WIDTH, dtype=kind, device=device)
    seconds = [time_product(a, b) for _ in range(4)][1:]  # the first is only warm-up
    return 2 * a.numel() * RATE_WIDTH / statistics.median(seconds)


def time_product(a: Tensor, b: Tensor) -> float:
    """Return the seconds from the start of one matrix product until the device has finished it."""
    synchronise(a.device)
    start = time.perf_counter()
    torch.mm(a, b)
    synchronise(a.device)
    return time.perf_counter() - start


def synchronise(device: torch.device) -> None:
    """Wait until a GPU has finished all its work; return at once on a CPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == APPLE_GPU:
        torch.mps.synchronize()
