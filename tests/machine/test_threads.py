"""Threads are asked for before libraries need them, which end the process without."""

import threading

import pytest

from transduce.errors import NotEnoughMemoryError
from transduce.machine.limits import require_threads


def test_so_many_threads_run_at_once_and_none_is_left(monkeypatch):
    most, start = [], threading.Thread.start

    def count(thread):
        start(thread)
        most.append(threading.active_count())

    monkeypatch.setattr(threading.Thread, "start", count)
    before = threading.active_count()
    require_threads(3)
    assert (max(most), threading.active_count()) == (before + 3, before)


def test_a_thread_that_cannot_be_started_is_an_error_of_ours(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(NotEnoughMemoryError, match="no more threads or processes"):
        require_threads(1)
