import math

import pytest
import torch

from transduce.fast.bfloat16 import Bfloat16AddDropout
from transduce.fast.dropout import CheapAddDropout, CheapDropout, build_dropout_mask, dropout


def add_dropout(x, y, p, *, training):
    """x + Dropout(y), as a model in the precision of y is given it."""
    kind = CheapAddDropout if y.dtype.itemsize > 2 else Bfloat16AddDropout
    return kind(p).train(training)(x, y)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_a_share_p_is_zeroed_and_the_rest_scaled_so_that_the_mean_stays(p):
    torch.manual_seed(1)
    count = 400_001
    dropped = dropout(torch.ones(count), p)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - p)])
    share = (dropped == 0).double().mean().item()
    assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / count) + 1 / 65_536


def test_neighbours_that_share_a_draw_are_dropped_independently():
    torch.manual_seed(2)
    kept = (build_dropout_mask(torch.empty(400_000), 0.5) > 0).view(-1, 4).double()
    together = torch.corrcoef(kept.T) - torch.eye(4)
    assert together.abs().max() < 0.02


def test_nothing_is_dropped_outside_training_or_at_zero():
    x = torch.randn(5)
    assert CheapDropout(0.9).eval()(x) is x
    assert CheapDropout(0.0)(x) is x


def test_the_gradient_passes_where_the_value_passed():
    torch.manual_seed(3)
    x = torch.randn(3, 7, dtype=torch.float64, requires_grad=True)
    dropped = dropout(x, 0.4)
    (gradient,) = torch.autograd.grad(dropped.sum(), x)
    torch.testing.assert_close(gradient * x, dropped)


def test_the_same_seed_gives_the_same_mask_and_the_next_draw_another():
    masks = []
    for seed in (4, 4, 5):
        torch.manual_seed(seed)
        masks.append([build_dropout_mask(torch.empty(99), 0.5) for _ in range(2)])
    assert torch.equal(masks[0][0], masks[1][0])
    assert torch.equal(masks[0][1], masks[1][1])
    assert not torch.equal(masks[0][0], masks[0][1])
    assert not torch.equal(masks[0][0], masks[2][0])


def sum_of(kind, add, seed=7):
    """Return x and y, x + Dropout(y) for a seed, the gradient of that and those of x and y."""
    generator = torch.Generator().manual_seed(6)
    x, y, d_total = (torch.randn(301, 7, generator=generator).to(kind) for _ in range(3))
    sides = x.requires_grad_(), y.requires_grad_()
    torch.manual_seed(seed)
    total = add(*sides, 0.4, training=True)
    return x, y, total, d_total, *torch.autograd.grad(total, sides, d_total)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_a_sum_with_dropout_is_the_sum_and_the_dropout(kind):
    found = sum_of(kind, add_dropout)
    expected = sum_of(kind, lambda x, y, p, **_: x + dropout(y, p))
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_a_sum_with_dropout_of_16_bits_drops_a_share_and_its_gradient_there(kind):
    x, y, total, d_total, d_x, d_y = (one.detach().float() for one in sum_of(kind, add_dropout))
    kept = d_y != 0
    count = kept.numel()
    assert abs(kept.double().mean().item() - 0.6) < 5 * math.sqrt(0.4 * 0.6 / count)
    torch.testing.assert_close(total, x + y * kept / 0.6, rtol=0.01, atol=0.01)
    torch.testing.assert_close(d_y, d_total * kept / 0.6, rtol=0.01, atol=0.01)
    assert torch.equal(d_x, d_total)


def test_the_same_seed_drops_the_same_of_16_bits_and_another_seed_others():
    first, again, other = (sum_of(torch.bfloat16, add_dropout, seed)[2] for seed in (7, 7, 8))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("p", [1e-7, 0.99999])
def test_the_least_and_greatest_rates_drop_next_to_nothing_and_next_to_all(p):
    y = torch.ones(50_000, dtype=torch.bfloat16)
    torch.manual_seed(8)
    dropped = add_dropout(torch.zeros_like(y), y, p, training=True) == 0
    assert abs(dropped.double().mean().item() - p) < 2e-4


def test_a_sum_without_dropout_is_a_sum():
    x, y = torch.randn(5).bfloat16(), torch.randn(5).bfloat16()
    assert torch.equal(add_dropout(x, y, 0.9, training=False), x + y)
    assert torch.equal(add_dropout(x, y, 0.0, training=True), x + y)
