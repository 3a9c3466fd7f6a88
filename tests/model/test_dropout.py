import math

import pytest
import torch

from transduce.model.dropout import add_dropout, build_dropout_mask, dropout


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_a_share_p_is_zeroed_and_the_rest_scaled_so_that_the_mean_stays(p):
    torch.manual_seed(1)
    count = 400_001
    dropped = dropout(torch.ones(count), p, training=True)
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
    assert dropout(x, 0.9, training=False) is x
    assert dropout(x, 0.0, training=True) is x


def test_the_gradient_passes_where_the_value_passed():
    torch.manual_seed(3)
    x = torch.randn(3, 7, dtype=torch.float64, requires_grad=True)
    dropped = dropout(x, 0.4, training=True)
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


def dropped_sum(kind, add, p=0.4):
    """Return x + Dropout(y) and the gradients of x and y, for a seed."""
    generator = torch.Generator().manual_seed(6)
    x, y, d_total = (torch.randn(33, 7, generator=generator).to(kind) for _ in range(3))
    sides = x.requires_grad_(), y.requires_grad_()
    torch.manual_seed(7)
    total = add(*sides, p)
    return total, *torch.autograd.grad(total, sides, d_total)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32, torch.float64])
def test_a_sum_with_dropout_drops_what_dropout_would_and_its_gradient_there(kind):
    found = dropped_sum(kind, lambda x, y, p: add_dropout(x, y, p, training=True))
    expected = dropped_sum(kind, lambda x, y, p: x + dropout(y, p, training=True))
    exact = kind != torch.bfloat16
    for one, other in zip(found, expected, strict=True):
        bounds = (0, 0) if exact else (0.01, 0.01)
        torch.testing.assert_close(one, other, rtol=bounds[0], atol=bounds[1])
    assert torch.equal(found[2] == 0, expected[2] == 0)


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
