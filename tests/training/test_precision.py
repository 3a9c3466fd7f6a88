"""bfloat16: products in few digits, weights, means and sums in float32."""

import pytest
import torch
from tests.training.tiny import batches, fresh, take_update, training_of
from torch.nn import functional

from transduce.paper.training import batch_loss


def after(updates, **changes):
    """A model and its optimiser after so many updates, and what they did."""
    training = training_of(**changes)
    model, optimiser = fresh(training)
    done = [
        take_update(model, optimiser, training, step, batches(step))
        for step in range(1, updates + 1)
    ]
    return model, optimiser, done


def test_the_model_computes_in_bfloat16_and_the_optimiser_in_float32():
    model, optimiser, _ = after(1, precision="bfloat16")
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}
    kept = [*optimiser.named_weights.values(), *optimiser.moments.values(), optimiser.gradients]
    assert {tensor.dtype for tensor in kept} == {torch.float32}


def test_the_model_sees_the_rounded_weights_after_every_update_and_after_restoring():
    model, optimiser, _ = after(2, precision="bfloat16")
    weights = {name: weight.clone() for name, weight in optimiser.named_weights.items()}
    moments = {name: moment.clone() for name, moment in optimiser.moments.items()}
    training = training_of(precision="bfloat16")
    other, its_optimiser = fresh(training, seed=77)
    its_optimiser.restore(weights, moments)
    for seen in (model.named_weights(), other.named_weights()):
        for name, weight in weights.items():
            assert torch.equal(seen[name], weight.to(torch.bfloat16)), name


def test_steps_too_small_for_bfloat16_are_not_lost():
    """At 1 it knows no number between 1 and 1.0078; the float32 weights do."""
    _, optimiser, _ = after(0, precision="bfloat16")
    before = optimiser.weights.detach().clone()
    optimiser.gradients.fill_(1.0)
    for _ in range(100):
        optimiser.update(1e-5, torch.zeros(()))
    moved = before - optimiser.weights.detach()
    torch.testing.assert_close(moved, torch.full_like(moved, 1e-3), rtol=1e-2, atol=2e-5)


@pytest.mark.parametrize("updates", [1, 5])
def test_losses_are_those_of_float32_within_a_percent(updates):
    _, _, exact = after(updates)
    _, _, found = after(updates, precision="bfloat16")
    for ours, expected in zip(found, exact, strict=True):
        assert ours is not None
        assert expected is not None
        assert ours.loss == pytest.approx(expected.loss, rel=0.01)
        assert ours.gradient_norm == pytest.approx(expected.gradient_norm, rel=0.05)


def test_gradients_point_where_those_of_float32_point():
    _, exact, _ = after(1)
    _, found, _ = after(1, precision="bfloat16")
    assert functional.cosine_similarity(exact.gradients, found.gradients, dim=0) > 0.995


def test_micro_batches_are_added_up_in_float32():
    """What is added to a large sum in bfloat16 is lost in its rounding."""
    training = training_of(precision="bfloat16")
    model, optimiser = fresh(training)
    model.train()
    for _ in range(3):
        torch.manual_seed(5)
        batch_loss(model, training, batches(1)[0])[0].backward()
    thrice = optimiser.gradients.clone()
    optimiser.clear_gradients()
    torch.manual_seed(5)
    batch_loss(model, training, batches(1)[0])[0].backward()
    torch.testing.assert_close(thrice, 3 * optimiser.gradients, rtol=1e-6, atol=0)
