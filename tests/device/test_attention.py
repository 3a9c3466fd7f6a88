"""torch's variable-length kernel beside equation 1 in float64, on the GPU at hand."""

import pytest
import torch
from tests.reference.attention import ReferenceAttention

from transduce.fast.choose import choose_attention
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
NEAR = 0.015  # of bfloat16, whose last digit is 0.004 of a number


def relative_error(ours, exact):
    return float((ours.detach().double() - exact.detach()).norm() / exact.detach().norm())


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(("d_k", "d_v"), WIDTHS)
def test_attention_and_its_gradients_are_those_of_equation_1(gpu, mask, d_k, d_v):
    draws = torch.Generator(gpu).manual_seed(1)
    shapes = [(sum(LENGTHS), 4, width) for width in (d_k, d_k, d_v, d_v)]
    q, k, v, back = (torch.randn(s, device=gpu, generator=draws).bfloat16() for s in shapes)
    found = []
    for kernel, dtype in ((VarlenAttention, torch.bfloat16), (ReferenceAttention, torch.float64)):
        given = [side.to(dtype).requires_grad_() for side in (q, k, v)]
        output = kernel(LENGTHS, LENGTHS, mask, gpu)(given[0], given[1], given[2])
        found.append([output, *torch.autograd.grad(output, given, back.to(dtype))])
    for name, ours, exact in zip(("output", "d q", "d k", "d v"), *found, strict=True):
        assert relative_error(ours, exact) < NEAR, name


def test_base_in_bfloat16_takes_the_variable_length_kernel(gpu):
    assert choose_attention(Architecture(), gpu, torch.bfloat16).kernel is VarlenAttention
