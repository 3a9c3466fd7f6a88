"""Label smoothing; dropout has a file of its own."""

import math

import pytest
import torch
from tests.model.tiny import SYMBOLS, model_of, packed, states_of

from transduce.packed import Batch
from transduce.paper.operations import smoothed_loss, smoothing_mass
from transduce.paper.training import batch_loss
from transduce.settings import Training

V = 5


def losses(smoothing, form="szegedy"):
    """Loss and nats of three targets, by the program and by hand."""
    generator = torch.Generator().manual_seed(1)
    states = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    weight = torch.randn(V, 4, generator=generator, dtype=torch.float64)
    targets = [2, 0, 2]
    spread = smoothing_mass(smoothing, form, V)
    loss, nats = smoothed_loss(states, weight, torch.tensor(targets), spread)
    by_hand = [0.0, 0.0]
    for state, target in zip(states, targets, strict=True):
        scores = [float(state @ row) for row in weight]
        total = math.log(sum(map(math.exp, scores)))
        for symbol, score in enumerate(scores):
            wanted = probability(symbol == target, smoothing, form)
            by_hand[0] -= wanted * (score - total)
            by_hand[1] -= (symbol == target) * (score - total)
    return (float(loss), float(nats)), by_hand


def probability(right, smoothing, form):
    """What the target distribution gives one symbol."""
    if form == "szegedy":
        return (1 - smoothing) * right + smoothing / V
    return 1 - smoothing if right else smoothing / (V - 1)


@pytest.mark.parametrize("form", ["szegedy", "t2t"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.2])
def test_the_loss_is_the_cross_entropy_with_smoothed_labels(smoothing, form):
    """1 - ε on the right symbol and ε spread: over all V (Szegedy), or the V - 1 others (T2T)."""
    found, by_hand = losses(smoothing, form)
    assert found == pytest.approx(by_hand, rel=1e-12)


@torch.no_grad()
def test_training_smooths_by_a_tenth_over_all_symbols():
    model, batch = model_of(), Batch(packed([5, 3]), packed([2, 4]))
    states = states_of(model, batch.source, batch.target)[1]
    log_p = (states @ model.output.weight.T).log_softmax(dim=1)
    right = torch.nn.functional.one_hot(batch.target.ids, SYMBOLS)
    by_hand = -((0.9 * right + 0.1 / SYMBOLS) * log_p).sum()
    torch.testing.assert_close(batch_loss(model, Training(), batch)[0], by_hand)


def test_both_forms_are_one_family():
    """ε on the others alone is the all-V form with ε' = ε V / (V - 1)."""
    assert smoothing_mass(0.1, "t2t", V) == pytest.approx(0.1 * V / (V - 1))
    assert smoothing_mass(0.1, "szegedy", V) == 0.1
    assert losses(0.1, "t2t")[0] == pytest.approx(losses(0.1 * V / (V - 1))[0])


def test_a_perplexity_has_no_smoothing_in_it():
    """Smoothing "hurts perplexity": the model learns to be unsure, the measure stays."""
    assert losses(0.0)[0][1] == losses(0.1)[0][1] == losses(0.2)[0][1]
    assert losses(0.0)[0][0] == pytest.approx(losses(0.0)[0][1])
    assert losses(0.1)[0][0] > losses(0.1)[0][1]


def test_the_best_a_smoothed_model_can_do_is_above_zero():
    """It reproduces the smoothed labels; the loss is then their entropy."""
    labels = torch.tensor([probability(s == 3, 0.1, "szegedy") for s in range(V)])
    loss, _ = smoothed_loss(
        torch.ones(1, 1),
        labels.log()[:, None],
        torch.tensor([3]),
        smoothing_mass(0.1, "szegedy", V),
    )
    assert float(loss) == pytest.approx(-float((labels * labels.log()).sum()))


def test_epsilon_is_a_tenth_after_szegedy():
    assert (Training().label_smoothing, Training().smoothing_form) == (0.1, "szegedy")
