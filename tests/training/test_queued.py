"""The host does not wait for the device until an update is read."""

import math

import pytest
import torch
from tests.training.events import read_journal
from tests.training.run import train_folder
from tests.training.tiny import batches, fresh, take_update, training_of
from torch.utils._python_dispatch import TorchDispatchMode

from transduce.fast.choose import build_prefetch_functions
from transduce.paper.training import update_weights

WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "item")


class WaitRecorder(TorchDispatchMode):
    """Names of operations whose answer a host waits for."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.__name__.split(".")[0]
        self.waits += [name] if name in WAITING else []
        return function(*args, **(kwargs or {}))


def waits_of(work):
    with WaitRecorder() as recorder:
        work()
    return recorder.waits


@pytest.mark.parametrize("changes", [{}, {"precision": "bfloat16"}, {"pad_to_tokens": 64}])
def test_the_host_does_not_wait_for_the_device_before_an_update_is_read(changes):
    training = training_of(**changes)
    model, optimiser = fresh(training, dropout=0.1)
    waits = waits_of(lambda: update_weights(model, optimiser, training, 1, batches(1)))
    assert waits == []


def test_control_a_wait_is_recorded():
    assert waits_of(lambda: float(torch.ones(3).sum())) == ["_local_scalar_dense"]


def test_an_update_can_be_read_after_others_were_queued():
    training = training_of()
    model, optimiser = fresh(training)
    queued = [update_weights(model, optimiser, training, n, batches(n)) for n in (1, 2, 3)]
    read = [one.read() for one in queued if one]
    model, optimiser = fresh(training)
    assert read == [take_update(model, optimiser, training, n, batches(n)) for n in (1, 2, 3)]


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_an_update_that_is_not_finite_is_skipped_on_the_device(poison):
    training = training_of()
    model, optimiser = fresh(training)
    good = update_weights(model, optimiser, training, 1, batches(1))
    before = [tensor.clone() for tensor in optimiser.state_tensors]
    norm = model.decoder[0].add_self.norm.bias.detach()
    kept = norm.clone()
    norm.fill_(poison)
    bad = update_weights(model, optimiser, training, 2, batches(2))
    norm.copy_(kept)
    for tensor, was in zip(optimiser.state_tensors, before, strict=True):
        assert torch.equal(tensor, was)
    last = update_weights(model, optimiser, training, 3, batches(3))
    read = [one.read() for one in (good, bad, last) if one]
    assert [update.applied for update in read] == [True, False, True]
    assert not torch.equal(optimiser.weights, before[0])


def test_the_next_updates_batches_may_be_read_while_one_is_under_way(tmp_path):
    """As on a GPU; the journal and the weights are the same."""

    def numbers(folder):
        lines = read_journal(folder / "log.jsonl")
        return [{k: v for k, v in line.items() if k not in ("seconds", "at")} for line in lines]

    training = training_of(steps=6)
    _, plain = train_folder(tmp_path / "plain", training)
    steps = []

    def read(step):
        steps.append(step)
        return batches(step)

    ahead, read_update = build_prefetch_functions(read, training.steps, torch.device("cuda"))
    _, found = train_folder(tmp_path / "ahead", training, batches=ahead, read=read_update)
    assert steps == [1, 2, 3, 4, 5, 6]
    assert numbers(tmp_path / "plain") == numbers(tmp_path / "ahead")
    assert plain == found
