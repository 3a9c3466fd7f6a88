"""docs/records/reliability.md, made from what the rows recorded: no figure in it is typed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.faults.row import Row
from tests.faults.rows import ROWS, row_of

ROOT = Path(__file__).parents[2]
RECORDS = Path(__file__).with_name("records.json")
PAGE = ROOT / "docs/records/reliability.md"
HEAD = """# Reliability

What happens to a run when the machine, the disk, the clock or a person misbehaves. Made from the
records of tests by `scripts/renew-reliability`; do not edit. Each row has controls: versions with
a sabotage that the same check must catch. A test that was skipped is not a test that passed.
"""
Tests = Sequence[tuple[str, Mapping[str, Any]]]  # by pytest's name, what it recorded
OWN = ("outcome", "reason", "form", "seconds", "date", "machine")  # what every test records


def page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page."""
    found = {
        row.number: [(name, fact) for name, fact in records.items() if row_of(name) is row]
        for row in ROWS
    }
    parts = [HEAD, made_with(records), overview(found)]
    parts += ["".join(section(row, found[row.number])) for row in ROWS]
    return "\n".join(parts)


def made_with(records: Mapping[str, Mapping[str, Any]]) -> str:
    """When and on what."""
    kinds: dict[str, set[str]] = {}
    for fact in records.values():
        kinds.setdefault(fact["machine"], set()).add(fact["date"])
    lines = [f"- {machine} ({', '.join(sorted(dates))})" for machine, dates in kinds.items()]
    return "\n".join(["Recorded on:", "", *lines, ""])


def overview(found: Mapping[str, Tests]) -> str:
    """A line a row."""
    lines = ["| row | fault | short form | long form | controls | not run yet |"]
    lines.append("|---|---|---|---|---|---|")
    for row in ROWS:
        tests = [one for one in found[row.number] if not is_control(row, one[0])]
        controls = [one for one in found[row.number] if is_control(row, one[0])]
        short, long = (
            counted([one for one in tests if one[1]["form"] == form]) for form in ("short", "soak")
        )
        caught, left = counted(controls, "caught"), str(len(not_run(row, found[row.number])))
        cells = (row.number, row.fault, short, long, caught, left)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def is_control(row: Row, name: str) -> bool:
    """Whether a test shows that the others could fail."""
    return name.split("[")[0].removeprefix("tests/") in row.controls


def not_run(row: Row, tests: Tests) -> list[str]:
    """What the row names and nothing recorded."""
    ran = {name.split("[")[0].removeprefix("tests/") for name, _ in tests}
    return [test for test in (*row.tests, *row.controls) if test not in ran]


def counted(tests: Tests, passed: str = "passed") -> str:
    """How many ended how."""
    outcomes = [fact["outcome"] for _, fact in tests]
    words = {"passed": passed, "skipped": "skipped", "failed": "**failed**"}
    said = [f"{outcomes.count(o)} {word}" for o, word in words.items() if o in outcomes]
    return ", ".join(said) or "not run"


def section(row: Row, tests: Tests) -> Iterator[str]:
    """One row: the promise, then each test with what it counted."""
    yield f"## {row.number}: {row.fault}\n\n{row.promise}\n\n"
    yield "| test | form | seconds | outcome | what it counted |\n|---|---|---|---|---|\n"
    for name, fact in sorted(tests, key=lambda one: (is_control(row, one[0]), one[0])):
        file, test = name.removeprefix("tests/").split("::", 1)
        outcome = fact["outcome"] + (f": {fact['reason']}" if fact.get("reason") else "")
        if is_control(row, name) and outcome == "passed":
            outcome = "caught"
        cells = (
            f"{sentence(test)} (`tests/{file}`)",
            fact["form"],
            f"{fact['seconds']:.1f}",
            outcome,
        )
        yield f"| {' | '.join((*cells, counts(fact)))} |\n"
    for name in not_run(row, tests):
        file, test = name.split("::")
        yield f"| {sentence(test)} (`tests/{file}`) | | | not run yet | |\n"


def sentence(test: str) -> str:
    """A test's name as people read it, its parameters behind it."""
    name, _, parameters = test.partition("[")
    said = name.removeprefix("test_").replace("_", " ")
    return f"{said} [{parameters}" if parameters else said


def counts(fact: Mapping[str, Any]) -> str:
    """What a test added of its own."""
    own = {name: value for name, value in fact.items() if name not in OWN}
    return "; ".join(
        f"{name.replace('_', ' ')}: {format_value(value)}" for name, value in own.items()
    )


def format_value(value: object) -> str:
    """A number, or a few with their names."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {format_value(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(format_value, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RECORDS.read_bytes())), encoding="utf-8")
