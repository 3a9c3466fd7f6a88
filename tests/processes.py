"""Processes that a test has begun, seen from outside."""

from pathlib import Path


def is_alive(pid: int | str) -> bool:
    """Whether it is there, and not only its entry."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rsplit(")", maxsplit=1)[1].split()[0] not in "ZX"
