"""docs/records/reliability.md, made from what the rows recorded: no figure in it is typed."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.faults.row import Row
from tests.faults.rows import ROWS, row_of

ROOT = Path(__file__).parents[2]
RECORDS = Path(__file__).with_name("records.json")
PAGE = ROOT / "docs/records/reliability.md"
HEAD = """# Reliability

What happens to a run when the machine, the disk, the clock or a person misbehaves. Made by
`scripts/renew-reliability` from `tests/faults/records.json`, which has each case in full; do not
edit. A row says what holds, then the files of tests that show it (`tests/faults/rows.py` names
each test), with what their short and long forms counted together, then its controls: sabotaged
versions that the same check must catch. A skipped test is not a passed test.
"""
Facts = Sequence[Mapping[str, Any]]
Tests = Mapping[str, Facts]  # a test's name without parameters, what its cases recorded
OWN = ("outcome", "reason", "form", "seconds", "date", "machine")  # what every case records
DETAILS = (  # in the records only
    *("because", "errors", "exit_codes", "kept_step", "landed_in", "landed_while", "longest"),
    *("answers", "different_saves", "fared", "names", "open_files", "outcomes"),
    *("places", "runs_took_by_that_clock", "said", "seeds", "slow_closed", "trouble"),
)
NOT_ADDED = ("exit_code", "megabytes_more", "newest")


def page(records: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {row.number: {} for row in ROWS}
    for name, fact in records.items():
        row = row_of(name)
        assert row is not None, name
        test = name.split("[")[0].removeprefix("tests/")
        found[row.number].setdefault(test, []).append(fact)
    sections = [section(row, found[row.number]) for row in ROWS]
    return "\n".join([HEAD, made_with(records), overview(found), *sections])


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
        tests = found[row.number]
        facts = [fact for name in row.tests for fact in tests.get(name, ())]
        short, long = (
            outcomes([one for one in facts if one["form"] == form]) for form in ("short", "soak")
        )
        controls = [fact for name in row.controls for fact in tests.get(name, ())]
        left = sum(name not in tests for name in (*row.tests, *row.controls))
        cells = (row.number, row.fault, short, long, outcomes(controls, "caught"), str(left))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def outcomes(facts: Facts, passed: str = "passed") -> str:
    """How many cases ended how."""
    ends = [fact["outcome"] for fact in facts]
    words = {"passed": passed, "skipped": "skipped", "failed": "**failed**"}
    said = [f"{ends.count(end)} {word}" for end, word in words.items() if end in ends]
    return ", ".join(said) or "not run"


def section(row: Row, tests: Tests) -> str:
    """One row: what holds, then the files of tests and the controls with what they counted."""
    lines = [f"## {row.number}: {row.fault}", "", row.promise, ""]
    for file, names in groupby(sorted(row.tests), lambda name: name.split("::")[0]):
        lines.append(
            f"- `tests/{file}`: {file_summary({name: tests.get(name, ()) for name in names})}"
        )
    for name in sorted(row.controls):
        found = tests.get(name, ())
        notes = [*([] if is_passed(found) else [outcomes(found)]), *figures(found)]
        said = read_name(name)
        said = f"{said[0].upper()}{said[1:]}" if "control " in said else f"Control: {said}"
        lines.append(f"- {said} ({'; '.join(notes)})" if notes else f"- {said}")
    return "\n".join([*lines, ""])


def file_summary(tests: Tests) -> str:
    """How many cases of a file passed and what they counted, then each test that did not pass."""
    passed = [fact for facts in tests.values() if is_passed(facts) for fact in facts]
    said = ["; ".join([f"{len(passed)} cases" if len(passed) != 1 else "1 case", *figures(passed)])]
    for name, facts in tests.items():
        if not is_passed(facts):
            reasons = dict.fromkeys(fact["reason"] for fact in facts if fact.get("reason"))
            said.append(f"{read_name(name)} ({': '.join([outcomes(facts), *reasons])})")
    return "; ".join(said)


def is_passed(facts: Facts) -> bool:
    """Whether a test was run and all of its cases passed."""
    return bool(facts) and all(fact["outcome"] == "passed" for fact in facts)


def read_name(test: str) -> str:
    """A test's name as people read it."""
    return test.split("::")[1].removeprefix("test_").replace("_s_", "'s ").replace("_", " ")


def figures(facts: Facts) -> list[str]:
    """What the cases counted, each figure with its name."""
    names = dict.fromkeys(name for fact in facts for name in fact)
    return [
        f"{name.replace('_', ' ')} {together(name, [fact[name] for fact in facts if name in fact])}"
        for name in names
        if name not in (*OWN, *DETAILS)
    ]


def together(name: str, values: Sequence[Any]) -> str:
    """The sum of the cases' figures, or all different values where no sum means anything."""
    if name == "refused_and_named":
        return f"{sum(sum(one.values()) if isinstance(one, dict) else one for one in values):,}"
    if all(isinstance(value, dict) for value in values):
        kinds = dict.fromkeys(kind for value in values for kind in value)
        sums = {kind: sum(value.get(kind, 0) for value in values) for kind in kinds}
        return ", ".join(f"{kind}: {total:,}" for kind, total in sums.items()) or "none"
    if all(type(value) is int for value in values) and name not in NOT_ADDED:
        return f"{sum(values):,}"
    return ", ".join(dict.fromkeys(str(value) for value in values))


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RECORDS.read_bytes())), encoding="utf-8")
