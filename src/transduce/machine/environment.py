"""What the last bit of a result depends on besides the recipe, and a sentence when it changed."""

import platform
from collections.abc import Mapping
from importlib.metadata import version

import torch

WORDS = {
    "transduce": "transduce",
    "torch": "torch",
    "numpy": "numpy",
    "threads": "threads",
    "processor": "processor",
    "instructions": "vector instructions",
    "device": "device",
    "adds": "gradients added",
}
IN_ORDER = "in order"
BEFORE = {"adds": IN_ORDER}  # what held before it was stored


def environment(
    device: torch.device, *, adds: str = IN_ORDER, processes: int = 1
) -> dict[str, str]:
    """Versions, threads, processor and who takes part, as stored with every save."""
    cuda = torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    return {
        "transduce": version("transduce"),
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "threads": str(torch.get_num_threads()),
        "processor": processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": cuda or device.type,
        "adds": adds,
        "processes": str(processes),
    }


def processor() -> str:
    """The processor's name as its maker prints it, where the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123 - a pseudo file
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def changes(saved: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What differs since the save: each a reason why the last bits may differ, too."""
    saved = {**BEFORE, **saved}
    return [
        f"{WORDS[name]} {saved.get(name, 'unknown')} → {now[name]}"
        for name in WORDS
        if saved.get(name) != now[name]
    ]
