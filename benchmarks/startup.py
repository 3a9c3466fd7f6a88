"""How soon a command answers, and what it imports for that."""

import subprocess
import sys
import time
from typing import Any

from benchmarks.figures import spread, table
from benchmarks.options import Options

COMMANDS = (["--help"], ["score", "--help"], ["recipes"])
TIMES = 20


def measure(options: Options) -> dict[str, Any]:
    """Every command in turn, again and again."""
    seconds: dict[str, list[float]] = {" ".join(command): [] for command in COMMANDS}
    for _ in range(2 if options.quick else TIMES):
        for command in COMMANDS:
            seconds[" ".join(command)].append(measure_start(command))
    torch = {" ".join(command): imports_torch(command) for command in COMMANDS}
    return {"seconds": seconds, "torch": torch}


def measure_start(command: list[str]) -> float:
    """One start."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "transduce", *command], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - began


def imports_torch(command: list[str]) -> bool:
    """Whether a command imports torch."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "transduce", *command],
        check=True,
        capture_output=True,
        text=True,
    )
    return any(line.split("|")[-1].strip() == "torch" for line in ended.stderr.splitlines())


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    body = [
        [
            f"`transduce {command}`",
            spread(seconds, 2),
            "yes" if found["torch"][command] else "no",
        ]
        for command, seconds in found["seconds"].items()
    ]
    return table(["", "seconds", "imports torch"], body)
