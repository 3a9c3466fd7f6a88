"""A device's measured operations per second, for the paper's estimate of training cost."""

import statistics
import time

import torch

from transduce.machine.device import APPLE_GPU

ROWS = {"cpu": 1_024, "cuda": 16_384}  # rows of the matrices: enough to use the whole device
WIDTH = 1_024
TIMES = 3


def measure_matmul_rate(device: torch.device, precision: str) -> float:
    """Return a device's floating-point operations per second in a matrix product (median of 3)."""
    kind, rows = getattr(torch, precision), ROWS.get(device.type, ROWS["cpu"])
    a = torch.ones(rows, WIDTH // 2, dtype=kind, device=device)
    b = torch.ones(WIDTH // 2, WIDTH, dtype=kind, device=device)
    seconds = [time_product(a, b) for _ in range(TIMES + 1)][1:]  # the first is only warm-up
    return 2 * a.numel() * WIDTH / statistics.median(seconds)


def time_product(a: torch.Tensor, b: torch.Tensor) -> float:
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
