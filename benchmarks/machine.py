"""The machine and versions that figures were measured with."""

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

from benchmarks import peers
from transduce.machine.device import CPU_FACTS, Processor, read_processor
from transduce.machine.environment import cpu_model_name

# the widest first, by their names in Linux
INSTRUCTIONS = MappingProxyType({"amx_tile": "AMX", "avx512f": "AVX512", "avx2": "AVX2"})
PACKAGES = ("torch", "numpy", "numba", "tokenizers", "safetensors")


def machine() -> dict[str, str]:
    """Return processor, instructions, cores, system and versions."""
    return {
        "processor": name_processor(),
        "instructions": name_instructions(read_processor()),
        "cores": str(os.cpu_count()),
        "system": " ".join([platform.system(), platform.release().split("-")[0]]),
        "python": platform.python_version(),
        "transduce": describe_commit(),
        **{package: find_version(package) for package in PACKAGES},
        **read_pinned_versions(),
    }


def slug() -> str:
    """Return the kind of machine as part of a file name, such as intel-xeon-processor-amx-2."""
    words = re.sub(r"\(\w+\)|[^a-z0-9]+", " ", name_processor().lower()).split()
    return "-".join([*words, name_instructions(read_processor()).lower(), str(os.cpu_count())])


def name_processor() -> str:
    """Return the processor's name; an AMD processor's with its family: AMD EPYC (family 25).

    Virtual machines call every EPYC by one name; with the instructions the family tells Zen 4,
    which computes 256 bits at a time, from Zen 5.
    """
    if read_processor().vendor != "AuthenticAMD":
        return cpu_model_name()
    family = re.search(
        r"^cpu family\s*: (\d+)$", CPU_FACTS.read_text(encoding="utf-8"), re.MULTILINE
    )
    return f"{cpu_model_name()} (family {family[1]})" if family else cpu_model_name()


def name_instructions(processor: Processor) -> str:
    """Return the widest of the instruction sets that decide how fast matrices are multiplied."""
    known = (name for feature, name in INSTRUCTIONS.items() if feature in processor.features)
    return next(known, "other")


def find_version(package: str) -> str:
    """Return the installed version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def read_pinned_versions() -> dict[str, str]:
    """Return the peers' versions that their list pins."""
    lines = peers.WANTED.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("==") for line in lines)
    return {name: number for name, _, number in pairs}


def describe_commit() -> str:
    """Return the version and commit of transduce."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    described = ""
    if shutil.which("git"):
        described = subprocess.run(
            command, capture_output=True, text=True, check=False
        ).stdout.strip()
    return f"{find_version('transduce')} {described}".strip()


def read_memory() -> dict[str, int]:
    """Return this process' resident, peak and anonymous bytes."""
    names = {"VmRSS": "resident", "VmHWM": "peak", "RssAnon": "anonymous"}
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    fields = (line.split(":", 1) for line in lines)
    return {names[name]: int(v.split()[0]) * 1024 for name, v in fields if name in names}
