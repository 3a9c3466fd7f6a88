"""The section about a GPU on the page about speed."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.figures import table

HEAD = "## On a GPU"
NOTHING = [
    HEAD,
    "",
    "Written, not run on one: `benchmarks/gpu` measures it, in at most nine minutes. "
    "Operators, waits and memory of an update and a search are known without one: "
    "[decision 0035](../internals/decisions/0035-a-stand-in-walks-the-way-of-a-gpu.md).",
    "",
]
SKIPPED = ("name", "lowest", "highest", "whole", "error")


def section(found: Mapping[str, Any] | None) -> list[str]:
    """All that was measured, or that nothing was."""
    if found is None:
        return NOTHING
    lines = [
        HEAD,
        "",
        *(["A rehearsal on a processor: the figures mean nothing.", ""] * found["rehearsal"]),
        f"`{found['command']}`, {found['at']}. bfloat16 unless it says otherwise. Milliseconds are "
        "the median over rounds, the lowest and highest in brackets.",
        "",
        ", ".join(f"{name} {fact}" for name, fact in found["machine"].items()),
        "",
    ]
    if any("output" in case for part in found["parts"].values() for case in part["cases"]):
        lines += [
            "Agreement is a relative distance, the largest over heads of 16 to 256 numbers (with "
            "Triton to 64). bfloat16 has two to three digits: 1e-3 to 1e-2 is as near as it comes.",
            "",
        ]
    for title, part in found["parts"].items():
        lines += [f"### {title}", "", *body(part["cases"], found["ceiling"])]
        if part["ended"]:
            cut = part["cases"] and part["ended"].startswith(("ended", "was stopped"))
            above = "; the table has what it had measured" if cut else ""
            lines += [f"The part {part['ended']}{above}.", ""]
    return lines


def body(cases: Sequence[Mapping[str, Any]], ceiling: float) -> list[str]:
    """A table of a part's cases; failures in words below it."""
    good = join_head_sizes([case for case in cases if "error" not in case])
    named = dict.fromkeys(k for case in good for k in case)
    columns = [name for name in named if name not in SKIPPED]
    share = ["of the product"] if ceiling and "TFLOP/s" in columns else []
    rows = [
        [
            case["name"],
            *(cell(case, column) for column in columns),
            *(f"{case['TFLOP/s'] / ceiling:.0%}" if "TFLOP/s" in case else "" for _ in share),
        ]
        for case in good
    ]
    failures = [
        f"- not measured: {case['name']} ({case['error']})" for case in cases if "error" in case
    ]
    return [*table(["", *columns, *share], rows), *failures, *([""] if failures else [])]


def join_head_sizes(cases: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the cases, those that differ by the size of a head alone as one with the largest."""
    joined: dict[str, dict[str, Any]] = {}
    for case in cases:
        name = case["name"].split(", d_k ")[0]
        largest = joined.setdefault(name, {**case, "name": name})
        if case["name"] != name:
            largest |= {k: max(largest[k], case[k]) for k in case if k != "name"}
    return list(joined.values())


def cell(case: Mapping[str, Any], column: str) -> str:
    """A figure in three digits or so."""
    if column not in case:
        return ""
    if 0 < case[column] < 1e-3:
        return f"{case[column]:.1e}"
    digits = 0 if case[column] >= 100 else 1 if case[column] >= 10 else 3
    text = f"{case[column]:,.{digits}f}"
    if column == "ms":
        text += f" ({case['lowest']:,.{digits}f}..{case['highest']:,.{digits}f})"
    return text
