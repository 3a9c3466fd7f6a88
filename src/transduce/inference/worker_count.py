"""Chooses how many worker processes translate a text, from idle cores and free memory."""

import os

WORKER_BYTES = 200_000_000  # memory of a process without its models: Python, torch, a batch
LINES_PER_WORKER = 1_000  # with fewer lines, starting a process costs more than it saves


def choose_workers(
    lines: int, cores: int, load: float, free_memory: float, model_bytes: int
) -> int:
    """Return the number of worker processes for `lines` lines of text, at least 1.

    There is one process for each core that is idle by the load average, but not more than the
    number of lines justifies, nor more than fit into `free_memory` bytes with `model_bytes` each.
    """
    idle = int(cores - load + 0.5)
    in_memory = free_memory / (model_bytes + WORKER_BYTES)
    return int(max(1, min(idle, lines // LINES_PER_WORKER, in_memory)))


def load_on_own_cores(cores: int) -> float:
    """Estimate the load on this process's `cores` cores, if all other cores are busy."""
    others = (os.cpu_count() or cores) - cores
    return max(0.0, os.getloadavg()[0] - others)
