"""Adam on one flat tensor makes the updates of the paper's Adam."""

import pytest
import torch
from tests.model.tiny import sizes
from tests.training.tiny import SYMBOLS, batches, fresh, training_of

from transduce.fast.flat_adam import FlatAdam
from transduce.paper.model import build_transformer
from transduce.paper.training import Adam, update_weights
from transduce.training.equip import equip_for_training


def plain(training):
    """The model of `fresh` with the paper's Adam."""
    model = build_transformer(sizes(layers=1), SYMBOLS, SYMBOLS, 3)
    equip_for_training(model, training)
    return model, Adam(model, training)


def state_after(build, training):
    """Weights and moments after three updates."""
    model, optimiser = build(training)
    for step in (1, 2, 3):
        update_weights(model, optimiser, training, step, batches(step))
    return optimiser.named_weights | optimiser.moments


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-6), ("bfloat16", 2e-3)])
def test_the_flat_optimiser_makes_the_updates_of_the_plain_one(precision, tolerance):
    training = training_of(precision=precision)
    assert isinstance(fresh(training)[1], FlatAdam), "one that differs is not used"
    ours, twin = (state_after(build, training) for build in (fresh, plain))
    assert list(ours) == list(twin)
    for name, weight in ours.items():
        torch.testing.assert_close(weight.detach(), twin[name], rtol=1e-4, atol=tolerance)


def test_a_run_may_go_on_with_the_other_one():
    training = training_of()
    model, flat = fresh(training)
    update_weights(model, flat, training, 1, batches(1))
    _, other = plain(training)
    other.restore(flat.named_weights, flat.moments)
    for name, one in (flat.named_weights | flat.moments).items():
        assert torch.equal((other.named_weights | other.moments)[name], one)


@pytest.mark.parametrize("build", [fresh, plain])
def test_an_update_that_is_skipped_moves_no_weight(build):
    _, optimiser = build(training_of())
    optimiser.list_gradients()[0].fill_(1.0)
    before = [one.clone() for one in optimiser.state_tensors]
    optimiser.update(0.1, torch.ones(()))
    assert all(map(torch.equal, optimiser.state_tensors, before))
