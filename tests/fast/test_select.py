"""Which attention kernel is chosen, without a GPU: devices and types are names here."""

import pytest
import torch
from tests.model.tiny import sizes

from transduce.fast.blocks import BucketedAttention
from transduce.fast.choose import can_run_triton, choose_attention
from transduce.fast.varlen import VarlenAttention, import_varlen_kernel

CUDA, CPU, HALF = torch.device("cuda"), torch.device("cpu"), torch.bfloat16


@pytest.fixture
def new_gpu(monkeypatch):
    """A GPU that can do all that torch's kernel asks for, and none that Triton could run on."""
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return CUDA


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    "changes",
    [{}, {"d_k": 16, "d_v": 64}, {"d_k": 256, "d_v": 256}, {"encoder_neighbourhood": 3}],
)
def test_half_precision_on_a_gpu_takes_torchs_kernel(new_gpu, kind, changes):
    assert choose_attention(sizes(**changes), new_gpu, kind) is VarlenAttention


@pytest.mark.parametrize(
    ("changes", "kind"),
    [({}, torch.float32), ({"d_k": 512, "d_v": 512}, HALF), ({"attention_dropout": 0.1}, HALF)],
)
def test_what_the_kernel_cannot_do_is_done_in_padded_blocks(new_gpu, changes, kind):
    assert choose_attention(sizes(**changes), new_gpu, kind) is BucketedAttention


def test_a_processor_has_padded_blocks():
    assert choose_attention(sizes(), CPU, HALF) is BucketedAttention


def test_an_old_gpu_has_padded_blocks(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    assert choose_attention(sizes(), CUDA, HALF) is BucketedAttention


def test_a_torch_without_the_kernel_or_without_windows_has_padded_blocks(new_gpu, monkeypatch):
    def windowless(*, scale):
        raise AssertionError(scale)

    monkeypatch.setattr("transduce.fast.varlen.import_varlen_kernel", lambda: windowless)
    assert choose_attention(sizes(), new_gpu, HALF) is BucketedAttention

    def gone():
        raise ImportError

    monkeypatch.setattr("transduce.fast.varlen.import_varlen_kernel", gone)
    assert choose_attention(sizes(), new_gpu, HALF) is BucketedAttention


def test_this_torchs_kernel_has_all_that_it_is_asked_for(new_gpu):
    assert callable(import_varlen_kernel())
    assert choose_attention(sizes(), new_gpu, HALF) is VarlenAttention


def test_where_the_kernels_of_triton_fail_torch_computes(monkeypatch):
    """As without Triton, without a C compiler, or on a GPU with too little memory for a tile."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("transduce.fast.choose.import_module", refuse_import)
    runs = can_run_triton.__wrapped__  # without what earlier tests found
    assert not runs(torch.device("cuda"), "triton_attention", 64, 64)
    assert not runs(torch.device("cuda"), "triton_loss")


def refuse_import(name):
    raise RuntimeError(f"{name}: failed to find a C compiler")
