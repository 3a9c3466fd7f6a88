"""The table and the picture of parsers that were trained alike but for one thing, by made rows."""

import json
import re

import pytest
from tests.golden.compared import draw_amounts, table_of_parsers

FIGURES = {"f1_up_to_40": 70.25, "f1_of_sentences": 60.5, "complete": 20.0, "failed": 3}
TESTED = {"other": "1/2", "difference": 8.0, "low": 6.5, "high": 9.5, "p": 0.001}
ROWS = [
    {"name": "all", "trees": 16_000, "f1": 66.0, **FIGURES, "against": TESTED},
    {"name": "1/2", "trees": 8_000, "f1": 58.0, **FIGURES},
    {"name": "1/4", "trees": 4_000, "f1": 51.0, **FIGURES},
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return path


def test_the_table_has_a_row_for_each_parser_and_the_tested_differences_below(file):
    lines = table_of_parsers(file).splitlines()
    assert lines[2] == "| all | 16,000 | 66.00 | 70.25 | 60.50 | 20.00 | 3 |"
    assert len(lines) == 2 + len(ROWS) + 2
    assert lines[-1].endswith("test sets: all less 1/2: +8.00 (+6.50 to +9.50, p = 0.001).")


def test_the_picture_has_a_dot_for_each_parser_at_its_trees_and_its_f1(file):
    drawing = draw_amounts(file)
    dots = [
        (float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawing)
    ]
    (x1, y1), (x2, y2), (x3, y3) = dots
    assert x3 - x2 == pytest.approx(2 * (x2 - x1), abs=0.05)  # 4,000, 8,000, 16,000 trees
    assert (y1 - y2) / 7 == pytest.approx((y2 - y3) / 8, abs=0.05)  # 51, 58, 66 F1, upwards
    for row in ROWS:
        assert f">{row['f1']:.1f}</text>" in drawing
        assert f">{row['name']}</text>" in drawing
