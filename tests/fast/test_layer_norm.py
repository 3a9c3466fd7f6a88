"""Layer normalisation in bfloat16, compared with float64."""

import pytest
import torch
from torch.nn import functional

from transduce.fast.bfloat16 import Bfloat16LayerNorm
from transduce.paper.model import LayerNorm
from transduce.settings import Architecture

TOKENS = 3_000


def build(kind):
    norm = (Bfloat16LayerNorm if kind == torch.bfloat16 else LayerNorm)(Architecture(d_model=64))
    norm = norm.to(kind)
    generator = torch.Generator().manual_seed(1)
    for weight in norm.parameters():
        weight.data = (torch.rand(64, generator=generator) + 0.5).to(kind)
    return norm


def exact():
    """The plain norm in float64, with the weights of that in bfloat16."""
    norm = LayerNorm(Architecture(d_model=64)).double()
    norm.load_state_dict(build(torch.bfloat16).state_dict())
    return norm


def run(norm, kind):
    """Return the output for many tokens, and the gradients of x, gain and bias."""
    generator = torch.Generator().manual_seed(2)
    shift = torch.randn(2, 1, 64, generator=generator)  # of a feature's gradients, all of one sign
    x, d_out = torch.randn(2, TOKENS, 64, generator=generator).add(shift * 0.3).bfloat16()
    x = x.to(kind).requires_grad_()
    out = norm(x)
    return out, *torch.autograd.grad(out, [x, *norm.parameters()], d_out.to(kind))


def relative_errors(found, expected):
    return [
        ((one.double() - right).norm() / right.norm()).item()
        for one, right in zip(found, expected, strict=True)
    ]


def test_sums_over_many_tokens_are_not_rounded_at_every_addition():
    expected = run(exact(), torch.float64)
    out, d_x, d_gain, d_bias = relative_errors(run(build(torch.bfloat16), torch.bfloat16), expected)
    assert max(out, d_x) < 0.01
    assert max(d_gain, d_bias) < 0.02


def test_control_torchs_own_sums_are_rounded_at_every_addition():
    """If this fails, torch adds in float32 now, and the products of this module can go."""
    norm = build(torch.bfloat16)
    plain = lambda x: functional.layer_norm(x, (64,), norm.weight, norm.bias, norm.eps)  # noqa: E731
    plain.parameters = norm.parameters  # type: ignore[attr-defined]
    expected = run(exact(), torch.float64)
    *_, d_bias = relative_errors(run(plain, torch.bfloat16), expected)
    assert d_bias > 0.02


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_in_other_precisions_it_is_torchs_own(kind):
    norm = build(kind)
    x = torch.randn(7, 64, dtype=kind)
    expected = functional.layer_norm(x, (64,), norm.weight, norm.bias, norm.eps)
    assert torch.equal(norm(x), expected)
