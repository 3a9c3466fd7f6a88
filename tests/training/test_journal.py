import json
import math
import os
from pathlib import Path

import pytest
from tests.training.events import read_journal

from transduce.errors import FolderError
from transduce.training.journal import Journal


def written(path, *events):
    journal = Journal(path)
    for event, step in events:
        journal.write(event, step=step)
    journal.close()


def steps(path):
    return [(event["event"], event["step"]) for event in read_journal(path)]


def test_what_is_written_is_read_with_the_time_it_happened(tmp_path):
    path = tmp_path / "log.jsonl"
    journal = Journal(path)
    journal.write("update", step=1, loss=0.1 + 0.2, applied=True)
    journal.close()
    (event,) = read_journal(path)
    assert event["loss"] == 0.1 + 0.2, "with all digits"
    assert event["at"].endswith("Z")
    assert json.loads(path.read_text("utf-8")) == event


def test_every_line_is_there_at_once(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    journal.write("update", step=1)
    assert steps(tmp_path / "log.jsonl") == [("update", 1)]
    journal.close()


def test_a_line_that_a_crash_cut_is_left_out_and_the_next_one_is_whole(tmp_path):
    path = tmp_path / "log.jsonl"
    written(path, ("update", 1), ("update", 2))
    whole = path.read_bytes()
    for cut in range(len(whole.splitlines(keepends=True)[0]), len(whole)):
        path.write_bytes(whole[:cut])
        kept = steps(path)
        assert kept in ([("update", 1)], [("update", 1), ("update", 2)])
        written(path, ("update", 3))
        assert steps(path) == [*kept, ("update", 3)]


def test_a_number_that_is_not_finite_is_null_for_json_has_no_word_for_it(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    journal.write("update", step=1, loss=math.nan, gradient_norm=math.inf, learning_rate=0.1)
    journal.close()
    text = (tmp_path / "log.jsonl").read_text("utf-8")
    event = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert (event["loss"], event["gradient_norm"], event["learning_rate"]) == (None, None, 0.1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="skipped: this system has no /dev/full")
def test_a_full_disk_costs_lines_but_never_the_training(tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    disk = journal.file
    with Path("/dev/full").open("ab", buffering=0) as journal.file:
        journal.write("update", step=1)
        journal.write("update", step=2)
    journal.file = disk
    journal.write("update", step=3)
    journal.write("update", step=4)
    journal.close()
    assert [(e["step"], e.get("lost_lines")) for e in read_journal(tmp_path / "log.jsonl")] == [
        (3, 2),
        (4, None),
    ]


@pytest.mark.parametrize(
    ("make", "fact"),
    [
        (os.mkfifo, "is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a link"),
        (Path.mkdir, "cannot be read: Is a directory"),
    ],
)
def test_a_journal_that_is_no_regular_file_is_refused_and_nothing_waits(tmp_path, make, fact):
    make(tmp_path / "log.jsonl")
    with pytest.raises(FolderError, match=f"log.jsonl: {fact}"):
        Journal(tmp_path / "log.jsonl")
