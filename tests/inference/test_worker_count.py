"""How many worker processes are chosen, by lines, idle cores and free memory."""

import math
import os

import pytest

from transduce.inference.workers import choose_workers, estimate_own_load

GIGABYTE = 10**9
QUIET = {"lines": 10**6, "cores": 8, "load": 0.0, "free_memory": math.inf, "model_bytes": 0}


@pytest.mark.parametrize(
    ("changes", "workers"),
    [
        ({}, 8),
        ({"cores": 1}, 1),
        ({"load": 0.4}, 8),
        ({"load": 2.6}, 5),
        ({"load": 7.9}, 1),
        ({"load": 30.0}, 1),
        ({"lines": 0}, 1),
        ({"lines": 1_999}, 1),
        ({"lines": 2_000}, 2),
        ({"lines": 7_999}, 7),
        ({"free_memory": 2e9}, 8),
        ({"free_memory": 2e9, "model_bytes": GIGABYTE // 5}, 5),
        ({"free_memory": 2e9, "model_bytes": 3 * GIGABYTE}, 1),
        ({"free_memory": -1e9}, 1),
    ],
)
def test_a_worker_for_every_idle_core_as_far_as_lines_and_memory_go(changes, workers):
    assert choose_workers(**{**QUIET, **changes}) == workers


def test_the_load_that_other_cores_of_the_machine_can_carry_does_not_count(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "getloadavg", lambda: (62.5, 0.0, 0.0))
    assert estimate_own_load(4) == 2.5
    assert estimate_own_load(64) == 62.5
    monkeypatch.setattr(os, "getloadavg", lambda: (30.0, 0.0, 0.0))
    assert estimate_own_load(4) == 0
