"""Which way to attend is chosen, without a GPU: devices and types are names here."""

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes, states_of

from transduce.model.attention import select as room
from transduce.model.attention.bucketed import Grouped
from transduce.model.attention.select import fitting
from transduce.model.attention.varlen import VariableLength, varlen

CUDA, CPU, HALF = torch.device("cuda"), torch.device("cpu"), torch.bfloat16


@pytest.fixture
def new_gpu(monkeypatch):
    """A GPU that can do it all."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    return CUDA


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "changes",
    [{}, {"d_k": 16, "d_v": 64}, {"d_k": 256, "d_v": 256}, {"encoder_neighbourhood": 3}],
)
def test_half_precision_on_a_gpu_takes_torchs_kernel(new_gpu, kind, changes):
    assert fitting(sizes(**changes), new_gpu, kind).kernel is VariableLength


@pytest.mark.parametrize(
    ("changes", "kind", "because"),
    [
        ({}, torch.float32, "needs half precision, and this is torch.float32"),
        ({"d_k": 512, "d_v": 512}, HALF, "a head has 512 numbers, the kernel takes 256"),
        ({"attention_dropout": 0.1}, HALF, "has no dropout on the weights"),
    ],
)
def test_what_the_kernel_cannot_do_is_done_in_rectangles(new_gpu, changes, kind, because):
    fit = fitting(sizes(**changes), new_gpu, kind)
    assert fit.kernel is Grouped
    assert because in fit.because


def test_a_processor_has_rectangles():
    fit = fitting(sizes(), CPU, HALF)
    assert (fit.kernel, fit.because.split(": ")[0]) == (Grouped, "rectangles")
    assert "needs CUDA, and this is cpu" in fit.because


def test_an_old_gpu_has_rectangles(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    assert "this GPU is older" in fitting(sizes(), CUDA, HALF).because


def test_a_torch_without_the_kernel_or_without_windows_has_rectangles(new_gpu, monkeypatch):
    def windowless(*, scale):
        raise AssertionError(scale)

    monkeypatch.setattr(room, "varlen", lambda: windowless)
    assert "kernel has no window_size" in fitting(sizes(), new_gpu, HALF).because

    def gone():
        raise ImportError

    monkeypatch.setattr(room, "varlen", gone)
    assert "this torch has no variable-length kernel" in fitting(sizes(), new_gpu, HALF).because


def test_this_torchs_kernel_has_all_that_it_is_asked_for(new_gpu):
    assert callable(varlen())
    assert fitting(sizes(), new_gpu, HALF).kernel is VariableLength


def test_a_model_without_a_kernel_of_its_own_asks(monkeypatch):
    model, asked = model_of(kernel=None), []

    def noted(*given):
        asked.append(given)
        return fitting(*given)

    monkeypatch.setattr("transduce.model.transformer.fitting", noted)
    states_of(model, packed([2]), packed([3]))
    assert asked == [(model.sizes, CPU, torch.float64)] * 3
