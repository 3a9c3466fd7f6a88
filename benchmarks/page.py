"""The page about speed, made of measured figures alone."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

ABOUT = [
    "Made by `benchmarks/run` from `benchmarks/results/`; do not edit. Another page says "
    "[how this was measured](../speed.md#how-a-processor-is-measured). Versions are those of the "
    "part that was measured last.",
    "",
]
IN_TITLE = ("processor", "instructions", "cores")


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
        ", ".join(
            f"{name} {fact}" for name, fact in found["machine"].items() if name not in IN_TITLE
        ),
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
