"""What a device sustains: the rate that the paper's estimate of cost multiplies time by."""

import statistics
import time

import torch

from transduce.machine.device import APPLES

ROWS = {"cpu": 1_024, "cuda": 16_384}  # enough work to keep it busy, and done in a moment
WIDTH = 1_024
TIMES = 3


def sustained_rate(device: torch.device, precision: str) -> float:
    """Operations a second of a large product of matrices, the middle of three."""
    kind, rows = getattr(torch, precision), ROWS.get(device.type, ROWS["cpu"])
    a = torch.ones(rows, WIDTH // 2, dtype=kind, device=device)
    b = torch.ones(WIDTH // 2, WIDTH, dtype=kind, device=device)
    seconds = [seconds_of(a, b) for _ in range(TIMES + 1)][1:]  # the first one warms up
    return 2 * a.numel() * WIDTH / statistics.median(seconds)


def seconds_of(a: torch.Tensor, b: torch.Tensor) -> float:
    """How long one product takes, to its end."""
    wait(a.device)
    begun = time.perf_counter()
    torch.mm(a, b)
    wait(a.device)
    return time.perf_counter() - begun


def wait(device: torch.device) -> None:
    """A GPU answers before it is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == APPLES:
        torch.mps.synchronize()
