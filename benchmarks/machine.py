"""What a figure was measured on and with."""

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import peers
from transduce.machine.environment import cpu_model_name

PACKAGES = ("torch", "numpy", "tokenizers", "safetensors")


def machine() -> dict[str, str]:
    """The processor and the versions of what is used."""
    return {
        "processor": cpu_model_name(),
        "cores": str(os.cpu_count()),
        "system": " ".join([platform.system(), platform.release().split("-")[0]]),
        "python": platform.python_version(),
        "transduce": commit(),
        **{package: version_of(package) for package in PACKAGES},
        **pinned(),
    }


def slug() -> str:
    """The machine in the name of a file."""
    words = re.sub(r"\(\w+\)|[^a-z0-9]+", " ", cpu_model_name().lower()).split()
    return "-".join([*words, str(os.cpu_count())])


def version_of(package: str) -> str:
    """What is installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def pinned() -> dict[str, str]:
    """The peers' versions, which their list pins."""
    lines = peers.WANTED.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("==") for line in lines)
    return {name: number for name, _, number in pairs}


def commit() -> str:
    """Version and commit of ours."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    told = ""
    if shutil.which("git"):
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"{version_of('transduce')} {told}".strip()


def memory_now() -> dict[str, int]:
    """Bytes of this process: resident, the most that ever were, and those of no file."""
    names = {"VmRSS": "resident", "VmHWM": "peak", "RssAnon": "anonymous"}
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    fields = (line.split(":", 1) for line in lines)
    return {names[name]: int(v.split()[0]) * 1024 for name, v in fields if name in names}
