"""The kernels of a GPU beside equation 1 and the loss in float64, on the GPU at hand."""

from importlib import import_module
from typing import Any

import pytest
import torch
from tests.reference.attention import ReferenceAttention

from transduce.fast.choose import choose_attention
from transduce.fast.loss import cross_entropy_inplace
from transduce.fast.varlen import VarlenAttention
from transduce.paper.operations import AttentionMask
from transduce.settings import Architecture

pytestmark = pytest.mark.device
LENGTHS = [3, 1, 120, 28, 64, 65, 2]
MASKS = {
    "all": AttentionMask(),
    "past": AttentionMask(causal=True),
    "neighbourhood": AttentionMask(neighbourhood=5),
    "past neighbourhood": AttentionMask(causal=True, neighbourhood=5),
}
WIDTHS = [(64, 64), (16, 64), (32, 64), (128, 128), (256, 256)]  # of Table 3's rows (A) and (B)
CASES = [*(("torch", *one) for one in WIDTHS), *(("Triton", *one) for one in WIDTHS[:-1])]
NEAR = 0.015  # of bfloat16, whose last digit is 0.004 of a number


def import_kernels(name: str) -> Any:
    """A module of kernels of Triton, or a skip where it is not installed."""
    pytest.importorskip("triton", reason="skipped: triton is not installed")
    return import_module(f"transduce.fast.{name}")


def relative_error(ours, exact):
    ours, exact = ours.detach().double().cpu(), exact.detach().double().cpu()
    return float((ours - exact).norm() / exact.norm())


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(("by", "d_k", "d_v"), CASES)
def test_attention_and_its_gradients_are_those_of_equation_1(gpu, by, mask, d_k, d_v):
    fast = VarlenAttention if by == "torch" else import_kernels("triton_attention").ShortAttention
    draws = torch.Generator(gpu).manual_seed(1)
    shapes = [(sum(LENGTHS), 4, width) for width in (d_k, d_k, d_v, d_v)]
    q, k, v, back = (torch.randn(s, device=gpu, generator=draws).bfloat16() for s in shapes)
    found = []
    for kernel, dtype, device in (
        (fast, torch.bfloat16, gpu),
        (ReferenceAttention, torch.float64, torch.device("cpu")),
    ):
        given = [side.to(device, dtype).requires_grad_() for side in (q, k, v)]
        output = kernel(LENGTHS, LENGTHS, mask, device)(given[0], given[1], given[2])
        found.append([output, *torch.autograd.grad(output, given, back.to(device, dtype))])
    for name, ours, exact in zip(("output", "d q", "d k", "d v"), *found, strict=True):
        assert relative_error(ours, exact) < NEAR, name


def test_base_in_bfloat16_attends_to_short_sentences_by_triton(gpu):
    short = import_kernels("triton_attention").ShortAttention
    chosen = choose_attention(Architecture(), gpu, torch.bfloat16)
    mask = AttentionMask()
    assert isinstance(chosen([128], [3], mask, gpu), short)
    assert isinstance(chosen([129], [3], mask, gpu), VarlenAttention)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32])
def test_the_loss_and_its_gradient_by_triton_are_those_in_float64(gpu, kind):
    draws = torch.Generator(gpu).manual_seed(1)
    logits = (3 * torch.randn(70, 37_001, device=gpu, generator=draws)).to(kind)
    targets, exact = torch.arange(64, device=gpu) * 500, logits.double()
    expected = cross_entropy_inplace(exact, targets, 0.1)
    found = import_kernels("triton_loss").cross_entropy_by_triton(logits, targets, 0.1)
    assert [one.item() for one in found] == pytest.approx([one.item() for one in expected])
    assert relative_error(logits, exact) < (0.004 if kind == torch.bfloat16 else 1e-5)
