"""The page about speed, made of measured figures alone."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

ABOUT = [
    "Made by `benchmarks/run` from the figures in `benchmarks/results/`; do not edit. Parts are "
    "measured at the times that stand under their headings, with the code of that time; machine "
    "and versions are those of the part that was measured last.",
    "",
    "Ratios count, not figures: machines differ, and this one is shared. All variants of a table "
    "ran in the same minutes, each in a process of its own, in turn, on the same tokens. A figure "
    "is the median over rounds, the lowest and highest in brackets; a ratio is taken within each "
    "round.",
    "",
]


def name_kind(machine: Mapping[str, str]) -> str:
    """Return a processor's name with the widest of its instruction sets."""
    return f"{machine['processor']} with {machine['instructions']}"


class Part(NamedTuple):
    """A section of the page."""

    title: str
    lines: Callable[[dict[str, Any]], list[str]]


def page(found: dict[str, Any], parts: Mapping[str, Part]) -> str:
    """Make the page of all that was measured on one machine."""
    title = f"# Speed of {name_kind(found['machine'])}, {found['machine']['cores']} cores"
    lines = [
        title,
        "",
        *ABOUT,
        *(f"- {name}: {fact}" for name, fact in found["machine"].items()),
        "",
    ]
    for name, part in parts.items():
        if name in found["parts"]:
            lines += section(part, found["parts"][name])
    return "\n".join(lines)


def section(part: Part, measured: dict[str, Any]) -> list[str]:
    """One part, and how its figures came about."""
    return [
        f"## {part.title}",
        "",
        f"`{measured['command']}`, {measured['at']}, {measured['rounds']} rounds, "
        f"{measured['threads']} threads, load before: {measured['load before']}",
        "",
        *part.lines(measured["figures"]),
    ]
