"""The columns of a log are what the log says, and no log ends in a traceback."""

import json
import math
import os
import pathlib
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.training.events import read_journal
from tests.view.curves.logs import read_updates, update, validation, write_log

from transduce.errors import FolderError, InputError
from transduce.training.journal import LOG
from transduce.view.curves import read_log
from transduce.view.curves.read_log import (
    Updates,
    join_parts,
    read_log_part,
    read_run_log,
    resolve_resumes,
)


def column(log, name):
    return [None if math.isnan(one) else one for one in getattr(log.updates, name).tolist()]


def steps(log):
    return [int(step) for step in log.updates.step]


def test_columns_hold_every_digit_of_the_log(tmp_path):
    log = read_run_log(write_log(tmp_path, [update(step) for step in range(1, 60)]))
    written = read_updates(tmp_path)
    for field in fields(Updates):
        assert column(log, field.name) == [float(event[field.name]) for event in written]
    assert (log.lost, log.unreadable, log.size) == (0, 0, (tmp_path / LOG).stat().st_size)


def test_what_training_writes_is_read_by_the_fast_pattern(tmp_path):
    events = [update(1), update(2, nats=math.nan, gradient_norm=math.inf, applied=False)]
    write_log(tmp_path, [*events, update(3, learning_rate=1.7e-7)])
    for line in (tmp_path / LOG).read_bytes().splitlines():
        match = read_log.LINE.match(line)
        assert match
        assert match[1]


def test_an_update_that_is_spelled_otherwise_is_read_as_json(tmp_path):
    events = [update(step) for step in range(1, 20)]
    write_log(tmp_path / "a", events)
    lines = [
        json.dumps({"event": kind, **dict(reversed(values.items()))}, separators=(",", ":"))
        for kind, values in events
    ]
    write_log(tmp_path / "b", [], [line.encode() for line in lines])
    ours, theirs = read_run_log(tmp_path / "a"), read_run_log(tmp_path / "b")
    assert [column(ours, f.name) for f in fields(Updates)] == [
        column(theirs, f.name) for f in fields(Updates)
    ]


def test_a_skipped_update_has_no_loss(tmp_path):
    skipped = update(2, nats=math.nan, gradient_norm=math.inf, applied=False)
    log = read_run_log(write_log(tmp_path, [update(1), skipped, update(3)]))
    assert column(log, "nats")[1] is None
    assert column(log, "gradient_norm")[1] is None
    assert column(log, "applied") == [1, 0, 1]


def test_validations_and_marks_are_those_of_the_log(tmp_path):
    events = [update(1), validation(1, 2.5, 17.5), ("snapshot", {"step": 1})]
    events += [update(2), validation(2, math.nan), ("checkpoint", {"step": 2})]
    log = read_run_log(write_log(tmp_path, [*events, ("finish", {"step": 2})]))
    first, second = log.validations
    assert (first.step, first.nats, first.score, first.score_name) == (1, 2.5, 17.5, "BLEU")
    assert (second.step, second.nats, second.score) == (2, None, None)
    assert log.marks["snapshot"] == (1,)
    assert log.marks["checkpoint"] == log.marks["finish"] == (2,)


def test_a_resume_makes_later_updates_before_it_void(tmp_path):
    before = [update(step) for step in range(1, 8)] + [validation(6, 3.0)]
    after = [update(step, nats=9.0) for step in range(6, 10)]
    log = read_run_log(write_log(tmp_path, [*before, ("resume", {"step": 5}), *after]))
    assert steps(log) == [*range(1, 10)]
    assert column(log, "nats")[5:] == [9.0] * 4
    assert (log.lost, log.marks["resume"], log.validations) == (2, (5,), ())


def draw_run(numbers):
    """Return a run with crashes: a number goes on by so many updates, 0 and less goes back."""
    events, step = [], 0
    for number in numbers:
        if number <= 0:
            step = max(0, step + number)
            events.append(("resume", {"step": step, "changed": []}))
            continue
        for _ in range(number):
            step += 1
            events.append(update(step, seconds=float(len(events))))
        events.append(validation(step, 1.0 + len(events)))
    return events


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.integers(-6, 5), max_size=12))
def test_what_counts_after_crashes_is_what_the_journal_says(tmp_path, numbers):
    run = tmp_path / "-".join(map(str, numbers))
    log = read_run_log(write_log(run, draw_run(numbers)))
    journal = read_journal(run / LOG)
    known = {kind: [e for e in journal if e["event"] == kind] for kind in ("update", "validation")}
    assert column(log, "seconds") == [event["seconds"] for event in known["update"]]
    assert [one.nats for one in log.validations] == [event["nats"] for event in known["validation"]]
    assert log.lost == len(read_updates(run)) - len(known["update"])
    (run / LOG).unlink()


DAMAGED = [
    b"{",
    b"nonsense",
    b"\xff\xfe\x00",
    b"[1, 2]",
    b'"update"',
    b"{}",
    b'{"event": 7}',
    b'{"event": "update"}',
    b'{"event": "update", "step": "2"}',
    b'{"event": "update", "step": -1}',
    b'{"event": "update", "step": 1.5}',
    b'{"event": "update", "step": true}',
    b'{"event": "update", "step": 1e999}',
    b'{"event": "update", "step": ' + b"9" * 5000 + b"}",
    b'{"event": "validation"}',
    b'{"event": "validation", "step": null}',
    b'{"event": "resume", "step": -3}',
    b'{"event": "resume", "step": 99999999999999999999}',
    b'{"event": "update", "step": 2, "nats',
    b"[" * 100_000,
]


@pytest.mark.parametrize("line", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_line_is_left_out_and_counted(tmp_path, line):
    run = write_log(tmp_path, [update(1)], [line])
    with (run / LOG).open("ab") as file:
        file.write(line + b"\n")
    log = read_run_log(write_log(run, [update(2)]))
    assert (steps(log), log.unreadable, log.validations) == ([1, 2], 2, ())


ODD = [
    b'{"event": "validation", "step": 1, "nats": "low", "score": [1]}',
    b'{"event": "validation", "step": 1, "nats": true, "score": {"value": {}, "name": 5}}',
    b'{"event": "validation", "step": 1, "nats": ' + b"9" * 400 + b', "score": {"value": 1e999}}',
]


@pytest.mark.parametrize("line", ODD, ids=range(len(ODD)))
def test_values_that_are_no_numbers_are_none(tmp_path, line):
    (found,) = read_run_log(write_log(tmp_path, [update(1)], [line])).validations
    assert (found.nats, found.score, found.score_name) == (None, None, None)


def test_fields_of_an_update_that_are_no_numbers_are_nan(tmp_path):
    wild = {"event": "update", "step": 2, "nats": "1", "gradient_norm": [], "seconds": None}
    wild |= {"learning_rate": {}, "target_tokens": "many"}
    log = read_run_log(write_log(tmp_path, [update(1)], [json.dumps(wild).encode()]))
    assert column(log, "nats")[1] is None
    assert column(log, "target_tokens")[1] is None
    assert column(log, "seconds") == [0.25, 0.25], "the clock stands"


def test_an_update_that_does_not_follow_is_left_out_and_counted(tmp_path):
    log = read_run_log(write_log(tmp_path, [update(1), update(3), update(2), update(3), update(4)]))
    assert (steps(log), log.unreadable) == ([1, 3, 4], 2)


def test_a_line_that_a_crash_cut_is_counted_and_not_part_of_the_size(tmp_path):
    run = write_log(tmp_path, [update(1)])
    whole = (run / LOG).stat().st_size
    with (run / LOG).open("ab") as file:
        file.write(b'{"event": "update", "st')
    log = read_run_log(run)
    assert (steps(log), log.unreadable, log.size) == ([1], 1, whole)


@pytest.mark.parametrize("block", [1, 7, 64, 333, 100_000])
def test_blocks_of_any_size_give_the_same(tmp_path, monkeypatch, block):
    run = write_log(tmp_path, draw_run([5, -2, 4, 3, -1, 5]), [b"cut"])
    expected = read_run_log(run)
    monkeypatch.setattr(read_log, "BLOCK_BYTES", block)
    found = read_run_log(run)
    assert [column(found, f.name) for f in fields(Updates)] == [
        column(expected, f.name) for f in fields(Updates)
    ]
    assert (found.validations, found.marks, found.lost, found.unreadable, found.size) == (
        expected.validations,
        expected.marks,
        expected.lost,
        expected.unreadable,
        expected.size,
    )


def test_a_log_read_in_two_parts_is_the_log(tmp_path):
    run = write_log(tmp_path, draw_run([5, -2, 4]))
    first = read_log_part(run / LOG)
    write_log(run, [("resume", {"step": 3}), update(4)])
    both = resolve_resumes(join_parts([first, read_log_part(run / LOG, first.size)]))
    whole = read_run_log(run)
    assert steps(both) == steps(whole) == [1, 2, 3, 4]
    assert (both.lost, both.size) == (whole.lost, whole.size)


def test_an_endless_line_is_one_line_that_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(read_log, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(read_log, "MAX_LINE_BYTES", 1 << 12)
    run = write_log(tmp_path, [update(1)], [b"[" + b"0," * 30_000])
    log = read_run_log(write_log(run, [update(2)]))
    assert (steps(log), log.unreadable) == ([1, 2], 1)
    with (run / LOG).open("rb") as stream:
        blocks = list(read_log.read_line_blocks(stream))
    assert max(len(lines) for lines, _ in blocks) < 1 << 14, "it is never in memory at once"
    assert blocks[-1][1] == (run / LOG).stat().st_size


def test_a_terabyte_of_zeros_is_passed_over(tmp_path):
    run = write_log(tmp_path, [update(1)])
    os.truncate(run / LOG, 1 << 40)
    write_log(run, [], [b""])  # ends the line
    log = read_run_log(write_log(run, [update(2)]))
    assert (steps(log), log.unreadable) == ([1, 2], 1)
    os.truncate(run / LOG, 1 << 41)
    assert steps(read_run_log(run)) == [1, 2]


def test_what_is_no_file_is_named_and_never_waited_for(tmp_path):
    for make in (os.mkfifo, os.mkdir, lambda path: pathlib.Path(path).symlink_to("/dev/zero")):
        run = tmp_path / str(len(list(tmp_path.iterdir())))
        run.mkdir()
        make(run / LOG)
        with pytest.raises(FolderError, match=r"log\.jsonl"):
            read_run_log(run)


def test_a_folder_without_a_log_is_no_run(tmp_path):
    with pytest.raises(InputError, match=r"no log\.jsonl lies there"):
        read_run_log(tmp_path)


def test_an_empty_log_has_no_updates(tmp_path):
    (tmp_path / LOG).write_bytes(b"")
    log = read_run_log(tmp_path)
    assert (len(log.updates), log.size) == (0, 0)
    assert isinstance(log.updates.step, np.ndarray)
