"""Versions, CPU, threads and device, which determine the last bits of results."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from transduce.errors import FolderError
from transduce.machine.device import read_processor
from transduce.version import __version__

LABELS = {
    "transduce": "transduce",
    "torch": "torch",
    "numpy": "numpy",
    "threads": "threads",
    "processor": "processor",
    "instructions": "vector instructions",
    "device": "device",
    "reduction": "gradients added",
    "forms": "forms of the paper's parts",
}
IN_ORDER = "in order"
# Assumed entries of old checkpoints that lack these keys.
BEFORE = {"reduction": IN_ORDER, "forms": "fast"}


def describe_environment(
    device: torch.device, *, reduction: str = IN_ORDER, processes: int = 1
) -> dict[str, str]:
    """Return versions, CPU, device and numbers of threads and processes, as stored in checkpoints.

    `reduction` names the method by which processes sum gradients, which is stored as well.
    """
    cuda = torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    return {
        "transduce": __version__,
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "threads": str(torch.get_num_threads()),
        "processor": cpu_model_name(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": cuda or device.type,
        "reduction": reduction,
        "processes": str(processes),
    }


def cpu_model_name() -> str:
    """Return the CPU's model name from /proc/cpuinfo, or else from Python's platform module."""
    return read_processor().model or platform.processor() or platform.machine()


def read_environment(state: Mapping[str, Any], file: Path) -> dict[str, str]:
    """Return the environment stored in a checkpoint's state; FolderError if it is malformed."""
    match state.get("environment"):
        case dict(found) if all(isinstance(value, str) for value in found.values()):
            return found
    fact, hint = "holds no environment of a run", "take the folder from its source again"
    raise FolderError(fact, hint, file=file)


def list_environment_changes(saved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return a line "name old → new" for each change that may alter the last bits of results."""
    saved = {**BEFORE, **saved}
    return [
        f"{LABELS[name]} {saved.get(name, 'unknown')} → {now[name]}"
        for name in LABELS
        if saved.get(name) != now[name]
    ]
