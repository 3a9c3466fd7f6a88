"""Cached columns of a log save time and change nothing, whatever happens to the log or to them."""

import json
import os
import re
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.view.curves.logs import update, validation, write_log

from transduce.errors import FolderError
from transduce.training.journal import LOG
from transduce.view.curves import read_log
from transduce.view.curves.read_log import Updates, parse_lines, read_run_log, resolve_resumes
from transduce.view.curves.server import read_growing_log


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The cache folder, for short logs too."""
    monkeypatch.setattr(read_log, "LEAST_NEW_BYTES", 1)
    monkeypatch.setenv("TRANSDUCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "columns"


@pytest.fixture
def parsed(monkeypatch):
    """The blocks of lines that were parsed."""
    blocks = []

    def parse(lines, end):
        blocks.append(lines)
        return parse_lines(lines, end)

    monkeypatch.setattr(read_log, "parse_lines", parse)
    return blocks


@pytest.fixture
def run(tmp_path):
    """A run with a crash, a validation, a skipped update, and a line that is no event."""
    events = [update(1), update(2, nats=float("nan"), applied=False), validation(2, 2.5, 17.5)]
    events += [update(3), ("resume", {"step": 2, "note": "ä\u2028"}), update(3), update(4)]
    return write_log(tmp_path / "run", [*events, ("finish", {"step": 4})], [b"nonsense"])


def describe(log):
    """Return a log as a value that is equal to that of an equal log."""
    columns = [getattr(log.updates, field.name).tobytes() for field in fields(Updates)]
    return columns, log.validations, dict(log.marks), log.lost, log.unreadable, log.size


def read_afresh(run):
    return describe(resolve_resumes(read_log.read_log_part(run / LOG)))


def check(run):
    """Read a run through the cache; it is what its log says."""
    found = describe(read_run_log(run))
    assert found == read_afresh(run)
    return found


def test_a_log_is_parsed_once(run, parsed):
    first = read_run_log(run)
    assert parsed
    parsed.clear()
    assert describe(read_run_log(run)) == describe(first) == read_afresh(run)
    assert parsed == [(run / LOG).read_bytes()], "by read_afresh alone"


def test_of_a_log_that_grew_only_new_lines_are_parsed(run, parsed):
    check(run)
    size = (run / LOG).stat().st_size
    write_log(run, [("resume", {"step": 3}), update(4, nats=9.0), update(5)])
    for new in ((run / LOG).read_bytes()[size:], None):
        parsed.clear()
        found = describe(read_run_log(run))
        assert parsed == ([new] if new else []), "and then these are cached, too"
        assert found == read_afresh(run)


def test_a_last_line_without_its_end_is_read_again(run, parsed):
    whole = json.dumps({"event": "update", **update(5)[1]}).encode()
    with (run / LOG).open("ab") as file:
        file.write(whole[:90])
    assert check(run)[4] == 2, "the cut line is counted"
    with (run / LOG).open("ab") as file:
        file.write(whole[90:] + b"\n")
    parsed.clear()
    found = describe(read_run_log(run))
    assert parsed == [whole + b"\n"]
    assert found == read_afresh(run)


def test_a_log_that_was_rewritten_is_not_taken_from_the_cache(run):
    before = check(run)
    content, times = (run / LOG).read_bytes(), (run / LOG).stat()
    digit = content.index(b'"nats": 4') + len(b'"nats": ')
    (run / LOG).write_bytes(content[:digit] + b"3" + content[digit + 1 :])
    os.utime(run / LOG, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert check(run) != before, "its length and its time are the same"


def test_a_log_that_was_cut_is_not_taken_from_the_cache(run):
    before = check(run)
    os.truncate(run / LOG, (run / LOG).read_bytes().rindex(b"\n", 0, -200) + 1)
    assert check(run) != before


CHANGES = st.one_of(
    st.tuples(st.just("grow"), st.integers(1, 30)),
    st.tuples(st.just("resume"), st.integers(0, 30)),
    st.tuples(st.just("cut"), st.integers(0, 9999)),
    st.tuples(st.just("rewrite"), st.integers(0, 9999)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(CHANGES, max_size=6))
def test_whatever_is_done_to_a_log_its_figures_are_those_of_its_lines(tmp_path, changes):
    run = write_log(tmp_path / "changed", [update(1)])
    for kind, number in changes:
        content = (run / LOG).read_bytes()
        if kind == "grow":
            write_log(run, [update(number), validation(number, 1.5)])
        elif kind == "resume":
            write_log(run, [("resume", {"step": number})])
        elif kind == "cut":
            os.truncate(run / LOG, number % (len(content) + 1))
        elif content:
            at = number % len(content)
            (run / LOG).write_bytes(content[:at] + b"7" + content[at + 1 :])
        check(run)
    (run / LOG).unlink()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(at=st.integers(0, 9999), flipped=st.integers(1, 255), is_cut=st.booleans())
def test_a_damaged_file_costs_time_only(run, cache, parsed, at, flipped, is_cut):
    check(run)
    (file,) = cache.iterdir()
    content = bytearray(file.read_bytes())
    at %= len(content)
    content[at] ^= flipped
    file.write_bytes(content[:at] if is_cut else content)
    parsed.clear()
    check(run)
    assert len(parsed) == 2, "by read_run_log, and by read_afresh"
    parsed.clear()
    check(run)
    assert len(parsed) == 1, "the file was written again"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_in_its_place_costs_time_only(run, cache, make):
    check(run)
    (file,) = cache.iterdir()
    file.unlink()
    make(file)
    check(run)


def test_columns_of_code_that_parses_otherwise_are_not_used(run, monkeypatch, parsed):
    check(run)
    monkeypatch.setattr(read_log, "VERSION", b"2")
    parsed.clear()
    check(run)
    assert len(parsed) == 2


def test_without_a_place_for_the_cache_logs_are_read_all_the_same(run, cache, monkeypatch):
    cache.parent.write_bytes(b"")
    check(run)
    for name in ("TRANSDUCE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("transduce.datasets.cache.Path.home", fail)
    check(run)


def fail():
    raise RuntimeError("Could not determine home directory.")


def test_a_full_disk_is_no_error(run, cache, monkeypatch):
    def write(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("transduce.durable.files.write_some", write)
    check(run)
    assert list(cache.iterdir()) == []


def test_events_that_are_too_deep_to_be_written_are_no_error(run, cache, monkeypatch):
    monkeypatch.setattr(json, "dumps", raise_recursion_error)
    check(run)
    assert list(cache.iterdir()) == []


def raise_recursion_error(_):
    raise RecursionError


def test_short_logs_are_not_cached(run, cache, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("TRANSDUCE_CACHE", str(cache.parent))
    assert read_log.LEAST_NEW_BYTES > 1
    check(run)
    assert not cache.exists()


def test_a_log_with_lines_that_were_passed_over_is_not_cached(run, cache, monkeypatch):
    monkeypatch.setattr(read_log, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(read_log, "MAX_LINE_BYTES", 1 << 12)
    check(write_log(run, [], [b"[" + b"0," * 30_000]))
    os.truncate(run / LOG, 1 << 40)
    check(run)
    assert not cache.exists()


def test_too_many_columns_are_not_cached(run, cache, monkeypatch):
    monkeypatch.setattr(read_log, "MAX_FILE_BYTES", 500)
    check(run)
    assert list(cache.iterdir()) == []


def test_the_columns_of_the_last_logs_are_kept_for_this_user_alone(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(read_log, "MAX_FILES", 2)
    for number in range(4):
        check(write_log(tmp_path / str(number), [update(number + 1)]))
        newest = max(cache.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        os.utime(newest, (number, number))
    kept = {read_log.cache_path(tmp_path / name / LOG).name for name in "23"}
    assert {file.name for file in cache.iterdir()} == kept
    assert cache.stat().st_mode & 0o777 == 0o700
    assert [*(tmp_path / "3").iterdir()] == [tmp_path / "3" / LOG], "a run is not written to"


def test_a_live_page_begins_with_what_is_cached(run, parsed):
    check(run)
    parsed.clear()
    assert describe(read_growing_log(run)) == describe(read_run_log(run))
    assert parsed == []
    new = write_log(run, [update(5)])
    assert describe(read_growing_log(run)) == read_afresh(new)
    assert len(parsed) == 2


def test_a_log_that_is_no_file_is_named(run):
    check(run)
    (run / LOG).unlink()
    os.mkfifo(run / LOG)
    with pytest.raises(FolderError, match=re.escape(LOG)):
        read_run_log(run)
