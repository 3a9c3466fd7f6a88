"""What processes that train together agree on, and how they lose one."""

import math
import os
import signal
import time

import pytest
import torch
from tests.training.distributed.processes import RECIPE, STEPS, join_training, patch, run_on_ranks
from tests.training.events import read_journal

from transduce.checkpoint.checkpoints import load_newest_checkpoint
from transduce.errors import LostProcessError
from transduce.paper import training as update_step
from transduce.paper.training import scaled_learning_rate
from transduce.training.distributed.torch_group import detect_lost_process
from transduce.training.progress import Progress

pytestmark = pytest.mark.workers


def poisoned(member, folder, steps, *, local=False):
    """Process 1 finds NaN in these steps; `local` has each decide on what it found itself."""
    batch_loss = update_step.batch_loss
    step = [1]

    def loss_of(*given):
        loss, nats = batch_loss(*given)
        return loss * (math.nan if member.rank == 1 and step[0] in steps else 1), nats

    def next_rate(number, *given):
        step[0] = number + 1
        return scaled_learning_rate(number, *given)

    patch(update_step, batch_loss=loss_of, scaled_learning_rate=next_rate)
    if local:
        patch(update_step, torch=Local(member))
    return join_training(member, folder)


class Local:
    """torch, which says that all is finite to the process that found nothing wrong."""

    def __init__(self, member):
        self.member = member

    def __getattr__(self, name):
        return getattr(torch, name)

    def isfinite(self, number):
        return torch.tensor(True) if self.member.rank == 0 else torch.isfinite(number)


def test_a_step_that_is_not_finite_in_one_process_is_skipped_by_all(tmp_path):
    found = run_on_ranks(2, poisoned, tmp_path, [1, 4])
    assert len({bits for _, bits in found}) == 1
    assert [(progress.step, progress.skipped) for progress, _ in found] == [(STEPS, 2)] * 2
    updates = [e for e in read_journal(tmp_path / "log.jsonl") if e["event"] == "update"]
    assert [event["step"] for event in updates if not event["applied"]] == [1, 4]


def local_decision(member, folder):
    return poisoned(member, folder, [4], local=True)


def test_control_processes_that_decide_for_themselves_drift_apart(tmp_path):
    found = run_on_ranks(2, local_decision, tmp_path)
    assert "NotFiniteError" in found or len({bits for _, bits in found}) == 2


def test_too_many_in_a_row_stop_all_and_what_is_saved_is_finite(tmp_path):
    assert run_on_ranks(2, poisoned, tmp_path, [2, 3, 4]) == ["NotFiniteError"] * 2
    save, rejected = load_newest_checkpoint(tmp_path)
    assert (save, rejected) == (None, [])


def saving(member, folder):
    """Process 1 is asked to save before the third update."""

    def noticing(step, *given):
        if member.rank == 1 and step == 2:
            member.requests.checkpoint = True
        return scaled_learning_rate(step, *given)

    patch(update_step, scaled_learning_rate=noticing)
    return join_training(member, folder)


def test_a_checkpoint_requested_of_one_process_is_written_and_training_continues(tmp_path):
    run_on_ranks(2, saving, tmp_path)
    saves = [e["step"] for e in read_journal(tmp_path / "log.jsonl") if e["event"] == "checkpoint"]
    assert saves == [3, STEPS]


def slow(member):
    """The first works for longer than anybody may be silent."""

    def work():
        time.sleep(4.5)
        return Progress(step=7, best_nats=0.1)

    return member.run_on_rank_0(work)


def test_work_of_the_first_is_waited_for_however_long_it_takes():
    assert run_on_ranks(2, slow, seconds=2.5) == [Progress(step=7, best_nats=0.1)] * 2


def ending(member, how):
    """Process 1 leaves in the middle; how long the other took to notice."""
    tensor, began = torch.ones(3), time.monotonic()
    try:
        member.broadcast([tensor])  # process 1 has heard from process 0: neither is still arriving
        if member.rank == 1:
            how()
        member.broadcast([tensor, tensor])
        member.run_on_rank_0(Progress)
        member.exchange_losses_and_requests(torch.zeros(2, 2))
    except LostProcessError as fault:
        return time.monotonic() - began, str(fault)
    return "nobody was lost"


def killed():
    os.kill(os.getpid(), signal.SIGKILL)


def failing():
    raise ZeroDivisionError


@pytest.mark.parametrize(("how", "last"), [(killed, None), (failing, "ZeroDivisionError")])
def test_a_process_that_ends_is_noticed_at_once(how, last):
    (seconds, fact), other = run_on_ranks(2, ending, how)
    assert other == last
    assert seconds < 50, "the limit is 60"
    assert fact.startswith("lost contact with another process of this run (")
    assert "\nhint: the same command resumes from the last checkpoint" in fact


def silent(member):
    """Process 1 says nothing any more."""
    if member.rank == 1:
        time.sleep(6)
        return None
    return ending(member, None)


def test_a_process_that_is_silent_is_lost_after_the_limit():
    (seconds, fact), _ = run_on_ranks(2, silent, seconds=2)
    assert seconds > 1
    assert "Timed out waiting 2000ms" in fact


def overflowing(member, folder):
    """Process 1 finds no memory for its share."""

    def loss_of(*_):
        raise torch.OutOfMemoryError

    if member.rank == 1:
        patch(update_step, batch_loss=loss_of)
    return join_training(member, folder)


def test_a_fault_in_what_a_process_computes_is_not_taken_for_a_loss(tmp_path):
    assert run_on_ranks(2, overflowing, tmp_path) == ["LostProcessError", "OutOfMemoryError"]


def test_a_failed_exchange_is_a_lost_process():
    with (
        pytest.raises(LostProcessError, match=r"lost contact .* \(Connection closed by peer\)"),
        detect_lost_process(),
    ):
        raise RuntimeError("[pair.cc:534] Connection closed by peer.\nmore")


def test_checkpoints_are_those_of_rank_0(tmp_path):
    assert RECIPE.steps == STEPS
    run_on_ranks(2, join_training, tmp_path)
    save, _ = load_newest_checkpoint(tmp_path)
    assert save is not None
    assert save.state["environment"]["reduction"] == "by 2 processes at once"
