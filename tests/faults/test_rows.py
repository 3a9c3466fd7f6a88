"""The rows name tests that are there, and the page says what they recorded."""

import ast
import json
from pathlib import Path

from tests.faults.page import PAGE, RECORDS, page
from tests.faults.rows import ROWS, row_of

TESTS = Path(__file__).parents[1]


def functions(file):
    return {node.name for node in ast.parse(file.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef)}  # fmt: skip


def test_every_test_of_a_row_is_there():
    named = [test.split("::") for row in ROWS for test in (*row.tests, *row.controls)]
    assert [test for file, test in named if test not in functions(TESTS / file)] == []


def test_every_row_has_a_control():
    assert [row.number for row in ROWS if not row.controls] == []


def test_every_record_is_of_a_test_that_a_row_names():
    records = json.loads(RECORDS.read_bytes())
    assert [name for name in records if row_of(name) is None] == []


def test_the_page_of_reliability_is_made_from_the_records():
    made = page(json.loads(RECORDS.read_bytes()))
    assert PAGE.read_text(encoding="utf-8") == made, "scripts/renew-reliability renews it"


def test_a_row_that_was_skipped_is_counted_and_says_why():
    test = f"tests/{ROWS[0].tests[0]}"
    fact = {"outcome": "skipped", "reason": "no such tool", "form": "short"}
    made = page({test: {**fact, "seconds": 0.0, "date": "2026-01-01", "machine": "some"}})
    rest = len(ROWS[0].tests) + len(ROWS[0].controls) - 1
    assert f"| {ROWS[0].fault} | 1 skipped | not run | not run | {rest} |" in made
    assert "skipped: no such tool" in made


def test_a_row_that_failed_is_not_hidden():
    test = f"tests/{ROWS[0].controls[0]}"
    fact = {"outcome": "failed", "form": "short", "landed": {"write": 7}, "seeds": [1, 2]}
    made = page({test: {**fact, "seconds": 0.0, "date": "2026-01-01", "machine": "some"}})
    assert f"| {ROWS[0].fault} | not run | not run | 1 **failed** | " in made
    assert "(1 **failed**; landed write: 7)" in made
