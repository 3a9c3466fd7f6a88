"""What tests of faults did, kept when asked for: `--records FILE` (a pytest plugin).

A test is of a row when `rows.py` names it. What it passed with, or why it was skipped, is kept
without a word of its own; with the fixture `record` it adds what it counted, such as its seeds and
where its faults landed. Records of tests that are not run anew stay in the file.
"""

import json
import os
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

import pytest
from tests.faults.rows import row_of

Record = Callable[..., None]


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Add facts to this test's record: `record(faults=40, landed=counter, seeds=[1])`."""

    def say(**facts: object) -> None:
        plain = json.loads(json.dumps(facts))  # a process beside this one may carry it over
        request.node.user_properties += plain.items()

    return say


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the records go."""
    parser.addoption("--records", metavar="FILE", help="keep what tests of faults did")


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that hears of all reports keeps them."""
    file = config.getoption("--records")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Records(Path(file)))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whether it is of the short form or of the long one goes along with the report."""
    form = "soak" if item.get_closest_marker("soak") else "short"
    item.user_properties.append(("form", form))


@final
class Records:
    """All reports of a session that are of a row."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The call's own report, or that of what kept it from being called."""
        if row_of(report.nodeid) is None or (report.when != "call" and report.passed):
            return
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
        self.found[report.nodeid] = {
            "outcome": report.outcome,
            **({"reason": reason.removeprefix("Skipped: ")} if report.skipped else {}),
            **dict(report.user_properties),
            "seconds": round(report.duration, 1),
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "machine": machine(),
        }

    def pytest_sessionfinish(self) -> None:
        """Beside what other sessions kept."""
        kept = json.loads(self.file.read_bytes()) if self.file.exists() else {}
        text = json.dumps(dict(sorted((kept | self.found).items())), indent=1) + "\n"
        self.file.write_text(text, encoding="utf-8")


def machine() -> str:
    """What the figures were made with."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    root = "root" if os.geteuid() == 0 else "a plain user"
    release = platform.release().split("-")[0]
    return (
        f"{platform.system()} {release}, {platform.machine()}, {cores} processors, "
        f"Python {platform.python_version()}, torch {version('torch')}, as {root}"
    )
