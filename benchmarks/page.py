"""The page about speed, made of measured figures alone."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

ABOUT = [
    "Made by `benchmarks/run` from `benchmarks/results/`; do not edit. Trust the ratios rather "
    "than the figures, as the machine is shared: all variants of a table ran in turn in the same "
    "minutes on the same tokens, each in its own process. Figures are medians over rounds, the "
    "lowest and highest in brackets; ratios are taken within each round. Versions are those of the "
    "part that was measured last.",
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
