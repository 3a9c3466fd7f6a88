"""Where the time of an update goes: the kernels that take most of it, by torch's profiler."""

from collections.abc import Callable
from functools import partial

import torch
from torch.autograd.profiler_util import FunctionEventAvg
from torch.profiler import ProfilerActivity, profile

from benchmarks.on_gpu.ladder import UPDATES, UpdateVariant
from benchmarks.on_gpu.scale import BIG, Cases, Figures, Scale

MOST = 14  # kernels that are listed
NAME = 70  # characters of a kernel's name


def cases(scale: Scale) -> Cases:
    """Base and big; each kernel with its share."""
    big = scale if scale.rehearsed else scale.with_sizes(BIG)
    for name, sizes in {"base": scale, "big": big}.items():
        yield f"{name}: all kernels", partial(measure_kernels, sizes)


def measure_kernels(scale: Scale) -> Figures:
    """Milliseconds of an update by kernel, the largest first, and the sum of all."""
    variant = UpdateVariant(scale)
    for _ in range(3):
        variant.turn()
    found = sorted(profile_kernels(variant.turn), key=device_milliseconds, reverse=True)
    total = sum(map(device_milliseconds, found))
    listed: Figures = {"ms": total, "lowest": total, "highest": total, "kernels": 0}
    listed["kernels"] = sum(one.count for one in found) / UPDATES
    for one in found[:MOST]:
        listed[f"{one.key[:NAME]} x{one.count // UPDATES}"] = device_milliseconds(one)
    return listed


def profile_kernels(work: Callable[[], object]) -> list[FunctionEventAvg]:
    """Run `work` under the profiler; return what ran on the device, by kernel."""
    gpu = torch.cuda.is_available()
    kinds = [ProfilerActivity.CUDA] if gpu else [ProfilerActivity.CPU]
    with profile(activities=kinds) as profiled:
        work()
        if gpu:
            torch.cuda.synchronize()
    return [one for one in profiled.key_averages() if device_milliseconds(one) > 0]


def device_milliseconds(one: FunctionEventAvg) -> float:
    """Milliseconds of an update that a kernel took on the device (of a rehearsal: on the CPU)."""
    device = one.self_device_time_total if torch.cuda.is_available() else one.self_cpu_time_total
    return float(device) / 1e3 / UPDATES
