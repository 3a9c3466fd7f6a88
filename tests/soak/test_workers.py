"""Several processes, stopped, poisoned and lost at many moments."""

import collections
import functools
import itertools
import os
import random
import shutil
import signal
import sys
import time

import pytest
from tests.cli.language import write_corpus
from tests.journeys.commands import tiny
from tests.journeys.conftest import Workspace
from tests.journeys.kills import OFTEN, STEPS, final_bits, half_written, landed
from tests.journeys.together import PARTS, children
from tests.processes import is_alive
from tests.training.distributed.processes import join_training, run_on_ranks
from tests.training.distributed.test_exchange import stop_after
from tests.training.distributed.test_group import poisoned

pytestmark = [pytest.mark.soak, pytest.mark.workers]
LIMIT = 5  # seconds


def test_one_to_four_exact_processes_end_in_the_same_bits_wherever_they_were_stopped(tmp_path):
    together = functools.partial(run_on_ranks, exact=True)
    bits = {together(size, join_training, tmp_path / f"{size}")[0][1] for size in (1, 2, 3, 4)}
    for number, (size, step) in enumerate(itertools.product((2, 3, 4), (1, 2, 3, 4, 5))):
        folder = tmp_path / f"stopped-{number}"
        together(size, stop_after, folder, step)
        bits.add(together(2 + number % 3, join_training, folder)[0][1])
    assert len(bits) == 1


def test_wherever_a_number_is_not_finite_all_skip_the_same_step(tmp_path):
    for number, steps in enumerate(itertools.combinations(range(1, 6), 2)):
        found = run_on_ranks(2, poisoned, tmp_path / f"{number}", list(steps))
        assert len({bits for _, bits in found}) == 1
        assert [progress.skipped for progress, _ in found] == [2, 2]


def test_a_process_lost_again_and_again_costs_nothing_but_time(tmp_path):
    where = lose_often(Workspace(write_corpus(tmp_path)), times=60, seed=3)
    assert where["writing"] + where["between writes"] >= 20


def lose_often(workspace: Workspace, times: int, seed: int) -> "collections.Counter[str]":
    """Kill or stop one of two at some moment, start again, until the run ends; so many times."""
    draws = random.Random(seed)
    sys.stdout.write(f"seed {seed}\n")
    command = (
        "train",
        *tiny(steps=STEPS, **PARTS, **OFTEN),
        "--workers=2",
        f"--lost-after={LIMIT}",
    )
    workspace.good(*command, "-o", "straight")
    where: collections.Counter[str] = collections.Counter()
    run = workspace.folder / "run"
    while where.total() < times:
        shutil.rmtree(run, ignore_errors=True)
        while (code := life(workspace, command, draws)) != 0:
            assert code == 7
            where[landed(run)] += 1
            assert half_written(run) == []
        assert final_bits(run) == final_bits(workspace.folder / "straight"), f"after {dict(where)}"
    sys.stdout.write(f"lost while {dict(where)}\n")
    return where


def life(workspace: Workspace, command: tuple[str, ...], draws: random.Random) -> int:
    """One start of the command, in which one process is lost unless it ends before."""
    with workspace.start(*command, "-o", "run") as process:
        assert process.stderr is not None
        while process.poll() is None and b" run" not in process.stderr.readline():
            pass
        time.sleep(draws.uniform(0, 1.0))
        both = children(process) if process.poll() is None else []
        if len(both) == 2:
            os.kill(draws.choice(both), draws.choice([signal.SIGKILL, signal.SIGSTOP]))
        process.communicate(timeout=LIMIT + 60)
    assert not any(map(is_alive, both))
    return int(process.returncode)
