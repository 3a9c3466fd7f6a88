"""The processor's vendor and instruction sets, which decide how weights are stored for a search."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import final

CPU_FACTS = Path("/proc/cpuinfo")  # a file that only Linux has


@final
@dataclass(frozen=True)
class Processor:
    """A CPU's vendor and instruction sets; both are empty on systems that do not report them."""

    vendor: str = ""  # such as "GenuineIntel" or "AuthenticAMD"
    features: frozenset[str] = frozenset()  # names as in Linux, such as "avx2", "avx512_vnni"


@functools.cache
def read_processor() -> Processor:
    """Return the vendor and features of this machine's CPU, or an empty `Processor`."""
    try:
        return parse_processor(CPU_FACTS.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return Processor()


def parse_processor(text: str) -> Processor:
    """Return the first processor in the text of Linux's /proc/cpuinfo."""
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    return Processor(facts.get("vendor_id", ""), frozenset(facts.get("flags", "").split()))
