"""Controls: what the stand-in device is there to find is planted, and found."""

import gc

import pytest
import torch
from tests.stand_in.device import CUDA, WrongDeviceError, stand_in_device
from tests.stand_in.searches import search_on_both
from tests.stand_in.test_search import ALLOWED, force
from tests.stand_in.test_update import require_bfloat16
from tests.stand_in.updates import small_training
from torch import Tensor

from transduce.paper import search
from transduce.paper import training as paper
from transduce.paper.model import Linear, SinusoidalPositions


def test_a_planted_item_is_found_in_an_update(monkeypatch):
    def read_loss(*args):
        found, nats = batch_loss(*args)
        return found, nats + 0 * found.item()

    batch_loss = paper.batch_loss
    monkeypatch.setattr(paper, "batch_loss", read_loss)
    with small_training() as traced:
        traced.queue(1)
        caller = "paper/training.py:add_gradients"
        assert traced.record.waits_by_caller() == {caller: 2}


def test_a_planted_nonzero_is_found_in_a_search(monkeypatch):
    find_done = search.find_done

    def find_and_wait(beams, score):
        assert len(beams.lengths.nonzero()) >= 0
        return find_done(beams, score)

    monkeypatch.setattr(search, "find_done", find_and_wait)
    _, _, record = search_on_both(force)
    assert set(record.waits_by_caller()) - ALLOWED == {"paper/search.py:expand_beams"}


def test_a_planted_cpu_tensor_is_refused(monkeypatch):
    encode = SinusoidalPositions.forward
    monkeypatch.setattr(
        SinusoidalPositions,
        "forward",
        lambda self, positions, longest: encode(self, positions, longest) + torch.zeros(8),
    )
    with small_training() as traced, pytest.raises(WrongDeviceError, match="embed"):
        traced.queue(1)


def test_a_planted_product_in_float32_is_found(monkeypatch):
    def multiply(self, x):
        return (x.float() @ self.weight.float().T).to(x)

    monkeypatch.setattr(Linear, "forward", multiply)
    with small_training(precision="bfloat16") as traced:
        traced.queue(1)
        with pytest.raises(AssertionError, match="float32"):
            require_bfloat16(traced.record)


WAITING = {
    "item": lambda x: x.sum().item(),
    "float": lambda x: float(x[0]),
    "bool": lambda x: bool(x[0] > 0),
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "nonzero": lambda x: x.nonzero(),
    "a mask as index": lambda x: x[x > 0],
    "a list as index": lambda x: x[[0, 1]],
    "an index on the CPU": lambda x: x[torch.tensor([0, 1])],
    "unique": lambda x: x.unique_consecutive(),
    "repeats": lambda x: torch.repeat_interleave(x, x.long()),
    "a copy from memory that is not pinned": lambda _: torch.ones(3).to(CUDA, non_blocking=True),
    "a copy of a list": lambda _: torch.tensor([1, 2], device=CUDA),
}


@pytest.mark.parametrize("work", WAITING.values(), ids=WAITING)
def test_whatever_waits_for_a_gpu_is_recorded(work):
    with stand_in_device() as record:
        x = torch.ones(3, device="cuda")
        assert record.waits == []
        work(x)
        assert len(record.waits) == 1


QUIET = {
    "a slice": lambda x: x[1:],
    "an index on the device": lambda x: x[torch.arange(2, device=CUDA)],
    "a number on the CPU": lambda x: x + torch.tensor(2.0),
    "a copy from pinned memory": lambda _: torch.ones(3).pin_memory().to(CUDA, non_blocking=True),
    "a mask that fills": lambda x: x.masked_fill(x > 0, 2.0),
}


@pytest.mark.parametrize("work", QUIET.values(), ids=QUIET)
def test_nothing_else_is(work):
    with stand_in_device() as record:
        x = torch.ones(3, device="cuda")
        work(x)
        assert record.waits == []


def test_tensors_say_where_they_are_and_have_the_numbers_of_a_cpu():
    x = torch.arange(6.0).view(2, 3)
    with stand_in_device():
        ours = x.to("cuda")
        assert (ours.device, ours.is_cuda) == (CUDA, True)
        weight = torch.nn.Parameter(ours)
        (weight @ weight.T).relu().sum().backward()
        assert weight.grad is not None
        assert weight.grad.device == CUDA
        gradient = weight.grad.cpu()
    plain = x.requires_grad_()
    (plain @ plain.T).relu().sum().backward()
    assert plain.grad is not None
    assert torch.equal(gradient, plain.grad)


def test_memory_is_counted_once_for_all_views_and_freed():
    with stand_in_device("meta") as record:
        x = torch.zeros(1_000, 1_000, device=CUDA)
        assert record.bytes == 4_000_256  # rounded up to blocks of 512 bytes
        views = [x[1:], x.T, x.view(-1)]
        assert record.bytes == 4_000_256
        y = x + 1
        del x, views
        gc.collect()
        assert (record.bytes, record.peak_bytes) == (4_000_256, 8_000_512)
        assert isinstance(y, Tensor)
