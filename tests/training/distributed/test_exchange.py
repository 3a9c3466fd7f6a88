"""Any number of processes: the same sentences a step, and with --exact the same bits."""

import pytest
import torch
from tests.training.distributed.processes import (
    RECIPE,
    five_batches,
    join_training,
    patch,
    run_on_ranks,
)
from tests.training.run import train_folder
from tests.training.tiny import fresh
from torch import distributed as processes

from transduce.paper import training as update_step
from transduce.paper.training import scaled_learning_rate
from transduce.training.distributed import torch_group as exchange

pytestmark = pytest.mark.workers


@pytest.fixture(scope="module")
def single_process(tmp_path_factory):
    """The progress and the hash that one process ends with."""
    torch.set_num_threads(1)
    return train_folder(tmp_path_factory.mktemp("alone"), RECIPE, batches=five_batches)


@pytest.mark.parametrize("size", [2, 3])
def test_exact_processes_end_in_the_bits_of_one(tmp_path, single_process, size):
    found = run_on_ranks(size, join_training, tmp_path, exact=True)
    assert {bits for _, bits in found} == {single_process[1]}
    assert found[0][0].target_tokens == single_process[0].target_tokens


def test_control_gradients_added_process_by_process_have_other_bits(tmp_path, single_process):
    """Each adds up its own first: of five micro-batches and three processes another sum."""
    found = run_on_ranks(3, join_training, tmp_path)
    assert len({bits for _, bits in found}) == 1, "all have the same all the same"
    assert found[0][1] != single_process[1]


def test_the_same_number_of_processes_ends_in_the_same_bits_wherever_it_was_stopped(tmp_path):
    straight = run_on_ranks(2, join_training, tmp_path / "straight")
    assert len({bits for _, bits in straight}) == 1
    for stop_at in (1, 3, 4):
        stopped = run_on_ranks(2, stop_after, tmp_path / str(stop_at), stop_at)
        assert [(step, signal) for step, signal in stopped] == [(stop_at, 15)] * 2
        resumed = run_on_ranks(2, join_training, tmp_path / str(stop_at))
        assert {bits for _, bits in resumed} == {straight[0][1]}, stop_at


def stop_after(member, folder, last):
    """Process 1 is asked to stop after that step: the last one, and why each ended."""

    def noticing(step, *given):
        if member.rank == 1 and step == last:
            member.requests.stop_signal = 15
        return scaled_learning_rate(step, *given)

    patch(update_step, scaled_learning_rate=noticing)
    progress, _ = join_training(member, folder)
    return progress.step, member.requests.stop_signal


def test_every_micro_batch_is_computed_once(monkeypatch):
    computed: list[int] = []
    _, optimiser = fresh(RECIPE)
    monkeypatch.setattr(processes, "get_world_size", lambda: 3)
    monkeypatch.setattr(exchange, "all_reduce", lambda _: None)
    for rank in range(3):
        monkeypatch.setattr(processes, "get_rank", lambda rank=rank: rank)
        assert exchange.all_reduce_once(computed.append, [5, 1, 4, 2, 9], optimiser, lambda: True)
    assert sorted(computed) == [0, 1, 2, 3, 4]
