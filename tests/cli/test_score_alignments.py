"""transduce score --alignments: links to an error rate."""

import json

import pytest

from transduce.scores.files import compare_alignments, score_alignments


@pytest.fixture
def files(tmp_path):
    for name, text in {"gold": "0-0 1-1 1p2\n0-0\n", "output": "0-0 1-2 2-1\n0-0\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "gold", tmp_path / "output"


def test_the_error_rate_precision_recall_and_numbers_of_links(call, files):
    ended = call("score", "--alignments", *files)
    assert ended.code == 0
    first, second = ended.stdout.splitlines()
    assert first.startswith("AER 28.57 | ")
    assert "| 2 lines | links:sure+possible|version:" in first
    assert second == "precision 75.00 | recall 66.67 | 4 links | 3 sure of 4 gold links"


def test_the_score_as_json(call, files):
    found = json.loads(call("score", "--alignments", "--json", *files).stdout)
    assert found == score_alignments(*files).as_json()


def test_two_alignments_are_compared(call, files):
    ended = call("score", "--alignments", *files, "--against", files[1], "--samples=50", "--json")
    assert json.loads(ended.stdout)["p"] == compare_alignments(files[0], (files[1],) * 2).p


def test_a_damaged_line_is_named(call, files):
    files[1].write_text("0-0\n0-0 x\n", encoding="utf-8")
    ended = call("score", "--alignments", *files)
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"error: {files[1]}, line 2: 'x' is no link\nhint: a line has ")


def test_options_of_other_files_are_refused(call, files):
    ended = call("score", "--alignments", "--scheme=raw", *files)
    assert ended.stderr == "error: --scheme needs --spans\n"
    assert (
        "--spans and --alignments are of" in call("score", "--alignments", "--spans", *files).stderr
    )
