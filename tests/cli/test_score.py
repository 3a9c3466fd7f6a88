"""transduce score: files to figures."""

import gzip
import json

import pytest

from transduce.scores import bleu, chrf, ter

OURS = ["The dog runs .", "A red house stands there .", "We drink coffee .", "It is late ."]
THEIRS = ["The dog runs .", "A red house stands here .", "We are drinking coffee .", "It is late ."]
OTHERS = ["The dog ran .", "One red house stands there .", "We drink coffee .", "It is late now ."]


@pytest.fixture
def files(tmp_path):
    for name, lines in {"ours": OURS, "theirs": THEIRS, "others": OTHERS}.items():
        text = "".join(line + "\n" for line in lines)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "theirs.gz").write_bytes(gzip.compress((tmp_path / "theirs").read_bytes()))
    return tmp_path


def test_a_line_for_each_score(call, files):
    ended = call("score", files / "ours", files / "theirs")
    assert ended.code == 0
    assert ended.stdout.splitlines() == [str(m(OURS, THEIRS)) for m in (bleu, chrf, ter)]


def test_one_score_as_json(call, files):
    ended = call("score", "--metric", "bleu", "--json", files / "ours", files / "theirs.gz")
    score = json.loads(ended.stdout)
    assert score["value"] == bleu(OURS, THEIRS).value
    assert score["signature"].startswith("nrefs:1|case:mixed|")
    assert score["lines"] == 4


def test_several_references_count_together(call, files):
    ended = call("score", "--metric=bleu", files / "ours", files / "theirs", files / "others")
    assert ended.stdout == f"{bleu(OURS, THEIRS, OTHERS)}\n"
    assert "nrefs:2" in ended.stdout


def test_hypotheses_may_come_from_standard_input(call, files):
    text = (files / "ours").read_bytes()
    ended = call("score", "--metric=ter", "-", files / "theirs", stdin=text)
    assert ended.stdout == f"{ter(OURS, THEIRS)}\n"


def test_standard_input_can_be_read_once_only(call):
    ended = call("score", "-", "-")
    assert ended.code == 2
    assert ended.stderr == (
        "error: standard input can be one of the files only\nhint: name the others\n"
    )


def test_files_of_other_lengths_are_refused_with_both_counts(call, files):
    (files / "short").write_text("one line\n", encoding="utf-8")
    ended = call("score", files / "ours", files / "short")
    assert ended.code == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: 4 lines are to be scored, but the reference has 1\n")


def test_a_missing_file_is_named(call, files):
    ended = call("score", files / "none", files / "theirs")
    assert ended.code == 2
    assert ended.stderr.startswith(f"error: {files / 'none'}: cannot be read (No such file")


def test_an_unknown_metric_is_refused_with_those_that_there_are(call, files):
    ended = call("score", "--metric=meteor", files / "ours", files / "theirs")
    assert ended.code == 2
    assert "'bleu', 'bleu-lc'" in ended.stderr
