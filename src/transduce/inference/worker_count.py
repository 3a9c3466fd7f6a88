"""How many worker processes a text of many lines deserves, from what the machine has free."""

import os

WORKER_BYTES = 200_000_000  # of a process beside its models: Python, torch, a batch
LINES_PER_WORKER = 1_000  # with fewer, starting a process costs more than it saves


def choose_workers(
    lines: int, cores: int, load: float, free_memory: float, model_bytes: int
) -> int:
    """Return the number of worker processes for `lines` lines of text, at least 1.

    One for each core that is idle by the load average, as far as the lines are worth it and each
    worker's copy of the models (`model_bytes`) fits into the free memory (in bytes).
    """
    idle = int(cores - load + 0.5)
    in_memory = free_memory / (model_bytes + WORKER_BYTES)
    return int(max(1, min(idle, lines // LINES_PER_WORKER, in_memory)))


def load_on_own_cores(cores: int) -> float:
    """Return the load average of the last minute, less what the machine's other cores carry."""
    others = (os.cpu_count() or cores) - cores
    return max(0.0, os.getloadavg()[0] - others)
