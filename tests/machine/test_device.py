"""Where torch computes, and what it may not ask of Apple's device."""

import math
from dataclasses import replace

import pytest
import torch
from tests.inference.random_models import random_translator
from tests.training.tiny import batches, fresh, take_update, training_of
from torch.utils._python_dispatch import TorchDispatchMode

from transduce.errors import InputError
from transduce.fast import loss
from transduce.machine import device
from transduce.machine.device import Processor, select_device
from transduce.runs import validation
from transduce.search import sampling as noise
from transduce.settings import Search


def test_the_processor_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert select_device() == torch.device("cuda")
    monkeypatch.setenv(device.DEVICE_VARIABLE, "cpu")
    assert select_device() == torch.device("cpu")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("tpu", "TRANSDUCE_DEVICE=tpu is no device\nhint: one of cpu, cuda, mps"),
        ("mps", "TRANSDUCE_DEVICE=mps, and torch finds no such device here\nhint: unset TRANS"),
    ],
)
def test_a_device_that_is_not_there_is_refused(monkeypatch, asked, answer):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setenv(device.DEVICE_VARIABLE, asked)
    with pytest.raises(InputError) as error:
        select_device()
    assert str(error.value).startswith(answer)


class WithoutFloat64(TorchDispatchMode):
    """A mode that fails for every tensor of float64, as on a device without this type."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        made = out if isinstance(out, tuple | list) else (out,)
        assert not any(torch.is_tensor(one) and one.dtype == torch.float64 for one in made), func
        return out


@pytest.fixture
def apples(monkeypatch):
    """Use the precision of sums that Apple's GPU has, on this CPU."""
    for module in (device, loss, validation, noise):
        monkeypatch.setattr(module, "accumulation_dtype", lambda _device: torch.float32)


@pytest.mark.usefixtures("apples")
def test_training_validation_and_search_need_no_float64():
    training = training_of(steps=2)
    model, optimiser = fresh(training, dropout=0.1)
    translator = random_translator()
    with WithoutFloat64():
        update = take_update(model, optimiser, training, 1, batches(1))
        nats, pieces = validation.sum_validation_loss(model, batches(2))
        for beam in (1, 4):
            searching = replace(translator.recipe, search=Search(beam=beam, extra_length=3))
            assert replace(translator, recipe=searching)("a b c")
    assert update is not None
    assert update.applied
    assert math.isfinite(nats / pieces)


def test_control_they_use_it_elsewhere():
    model, optimiser = fresh(training_of(steps=1), dropout=0.1)
    with WithoutFloat64(), pytest.raises(AssertionError):
        take_update(model, optimiser, training_of(steps=1), 1, batches(1))


def test_noise_is_the_same_to_the_digits_that_there_are(monkeypatch):
    keys = noise.derive_key(torch.arange(1_000), 7)
    exact = noise.gumbel_noise(keys)
    monkeypatch.setattr(noise, "accumulation_dtype", lambda _device: torch.float32)
    torch.testing.assert_close(noise.gumbel_noise(keys), exact.float())


AMD = Processor("AuthenticAMD", frozenset({"avx512f", "avx512_bf16"}))
AMX = Processor("GenuineIntel", frozenset({"avx512f", "avx512_bf16", "amx_tile", "amx_bf16"}))
NO_AMX = Processor("GenuineIntel", frozenset({"avx512f", "avx512_bf16"}))


@pytest.mark.parametrize(
    ("where", "processor", "supports", "fast"),
    [
        ("cpu", AMD, False, False),
        ("cpu", AMD, True, True),
        ("cpu", AMX, True, True),
        ("cpu", NO_AMX, True, False),
        ("cpu", Processor(), True, True),
        ("cuda", NO_AMX, False, True),
    ],
)
def test_bfloat16_is_fast_where_torch_and_the_processor_have_fast_instructions(
    monkeypatch, where, processor, supports, fast
):
    operator = "_is_mkldnn_bf16_supported"
    monkeypatch.setattr(torch.ops.mkldnn, operator, lambda: supports, raising=False)
    monkeypatch.setattr(device, "read_processor", lambda: processor)
    assert device.has_fast_bfloat16(torch.device(where)) is fast
