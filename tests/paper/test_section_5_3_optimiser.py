"""Adam and the learning rate."""

import math

import pytest
import torch
from tests.training.tiny import batches, fresh, take_update, training_of
from torch import nn

from transduce.paper.training import Adam, learning_rate, scaled_learning_rate
from transduce.recipes import by_name, names
from transduce.settings import Architecture, Training


@pytest.mark.parametrize("step", [1, 2, 100, 3_999, 4_000, 4_001, 16_000, 100_000])
def test_the_rate_follows_equation_3(step):
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), steps from 1, warmup 4000."""
    by_hand = 1 / math.sqrt(512) * min(1 / math.sqrt(step), step / (4000 * math.sqrt(4000)))
    assert scaled_learning_rate(step, Architecture(), Training()) == pytest.approx(
        by_hand, rel=1e-12
    )


def test_the_rate_has_these_values():
    """Computed from the formula with a pocket calculator."""
    for step, rate in ((1, 1.7469e-7), (1_000, 1.7469e-4), (4_000, 6.9877e-4), (16_000, 3.4939e-4)):
        assert learning_rate(step, 512, 4_000) == pytest.approx(rate, rel=1e-4)


def test_the_rate_rises_linearly_to_step_4000_and_falls_with_the_root_of_the_step():
    rates = [learning_rate(step, 512, 4_000) for step in range(1, 12_001)]
    assert rates.index(max(rates)) == 3_999
    assert rates[1_999] == pytest.approx(2_000 * rates[0])
    assert rates[11_999] == pytest.approx(rates[3_999] / math.sqrt(3))


def test_the_peaks_are_6_99e_4_for_base_and_4_94e_4_for_big():
    for row, peak in (("base", 6.99e-4), ("big", 4.94e-4)):
        rates = [rate_of(f"table3/{row}", step) for step in (3_999, 4_000, 4_001)]
        assert max(rates) == rates[1] == pytest.approx(peak, abs=5e-7)


def rate_of(recipe, step):
    recipe = by_name(recipe)
    return scaled_learning_rate(step, recipe.architecture, recipe.training)


def test_equation_3_has_no_other_factor():
    """In no run of Tables 2 and 3."""
    papers = [name for name in names() if name.startswith(("table2/", "table3/"))]
    assert len(papers) > 20
    for name in papers:
        rate = learning_rate(100, by_name(name).architecture.d_model, 4_000)
        assert rate_of(name, 100) == rate


def test_an_update_has_the_rate_of_its_step(monkeypatch):
    training, rates = training_of(warmup=10), []
    model, optimiser = fresh(training)
    monkeypatch.setattr(optimiser, "update", lambda rate, _: rates.append(rate))
    for step in (1, 10, 17):
        take_update(model, optimiser, training, step, batches(step))
    by_hand = [8**-0.5 * 10**-1.5, 8**-0.5 * 10**-0.5, 8**-0.5 * 17**-0.5]
    assert rates == pytest.approx(by_hand, rel=1e-12)


def test_adam_has_the_constants_of_the_paper():
    """beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9; nothing else, as `updates are adam by hand`."""
    training = Training()
    assert (training.beta1, training.beta2, training.epsilon) == (0.9, 0.98, 1e-9)
    optimiser = Adam(nn.Linear(2, 2), training)
    assert (optimiser.betas, optimiser.epsilon) == ((0.9, 0.98), 1e-9)


def test_updates_are_adam_by_hand():
    """m, v and their corrections as Kingma and Ba write them, number by number."""
    model = nn.Linear(3, 2).double()
    optimiser = Adam(model, Training())
    weights = torch.cat([w.detach().flatten() for w in model.parameters()]).tolist()
    m, v = [0.0] * 8, [0.0] * 8
    generator = torch.Generator().manual_seed(1)
    for t in range(1, 6):
        g = torch.randn(8, generator=generator, dtype=torch.float64)
        for weight, gradient in zip(model.parameters(), g.split([6, 2]), strict=True):
            weight.grad = gradient.view(weight.shape)
        rate = learning_rate(t, 512, 4_000)
        optimiser.update(rate, torch.zeros(()))
        for i, gradient in enumerate(g.tolist()):
            m[i] = 0.9 * m[i] + 0.1 * gradient
            v[i] = 0.98 * v[i] + 0.02 * gradient**2
            corrected = m[i] / (1 - 0.9**t), v[i] / (1 - 0.98**t)
            weights[i] -= rate * corrected[0] / (math.sqrt(corrected[1]) + 1e-9)
        in_the_model = torch.cat([w.detach().flatten() for w in model.parameters()])
        torch.testing.assert_close(in_the_model.tolist(), weights, rtol=0, atol=1e-12)
