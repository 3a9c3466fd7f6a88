"""The processor's vendor and instruction sets, which decide how weights are stored for a search."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import final

CPU_FACTS = Path("/proc/cpuinfo")  # Linux only


@final
@dataclass(frozen=True)
class Processor:
    """What a rule may ask of a CPU; all fields are empty where the system does not say."""

    vendor: str = ""  # "GenuineIntel", "AuthenticAMD"
    features: frozenset[str] = frozenset()  # Linux's names: "avx2", "avx512f", "avx512_vnni"


@functools.cache
def read_processor() -> Processor:
    """Return the vendor and features of this machine's CPU, or an empty `Processor`."""
    try:
        return parse_processor(CPU_FACTS.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return Processor()


def parse_processor(text: str) -> Processor:
    """Return the first processor of a text in the form of Linux's /proc/cpuinfo."""
    lines = (line.partition(":") for line in text.partition("\n\n")[0].splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    return Processor(facts.get("vendor_id", ""), frozenset(facts.get("flags", "").split()))
