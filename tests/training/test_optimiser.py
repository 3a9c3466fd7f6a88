import copy
import weakref

import pytest
import torch
from tests.training.tiny import batches, fresh, take_update, training_of
from torch import nn

from transduce.fast.flat_adam import FlatAdam


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_models_parameters_are_views_of_the_flat_weights(precision):
    model, optimiser = fresh(training_of(precision=precision))
    assert optimiser.weights.numel() == sum(weight.numel() for weight in model.parameters())
    with torch.no_grad():
        optimiser.weights.fill_(2.5)
        optimiser.refresh_model()
    assert all((weight == 2.5).all() for weight in model.parameters())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_backward_adds_to_the_flat_gradient_in_place(precision):
    model, optimiser = fresh(training_of(precision=precision))
    address = optimiser.gradients.data_ptr()
    for _ in range(2):
        model.target.weight.sum().backward()
    assert optimiser.gradients.data_ptr() == address
    assert optimiser.gradients.sum() == 2 * model.target.weight.numel()
    assert all(weight.grad is None for weight in model.parameters())


def test_a_cleared_gradient_is_zero_where_none_comes():
    model, optimiser = fresh(training_of())
    optimiser.gradients.fill_(7.0)
    optimiser.clear_gradients()
    model.target.weight.sum().backward()
    assert optimiser.gradients.sum() == model.target.weight.numel()
    optimiser.clear_gradients()
    assert not optimiser.gradients.any()


def test_a_model_without_references_is_freed():
    references = [weakref.ref(one) for one in fresh(training_of())]
    assert [one() for one in references] == [None, None], "no circle that only a collection opens"


def test_flat_adam_equals_torchs_adam_tensor_by_tensor():
    training = training_of()
    model, optimiser = fresh(training)
    other = copy.deepcopy(model)
    adam = torch.optim.Adam(other.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in range(1, 4):
        update = take_update(model, optimiser, training, step, batches(step))
        assert update is not None
        for weight, view in zip(
            other.parameters(), optimiser.as_parameter_views(optimiser.gradients), strict=True
        ):
            weight.grad = view.clone()
        adam.param_groups[0]["lr"] = update.learning_rate
        adam.step()
    for ours, its in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(ours, its, rtol=1e-6, atol=1e-7)


def test_no_object_of_torchs_optimisers_is_made(monkeypatch):
    """Making one imports torch's compiler: seconds before the first update."""

    def refuse(*_):
        raise AssertionError("torch.optim.Optimizer")

    monkeypatch.setattr(torch.optim.Optimizer, "__init__", refuse)
    with pytest.raises(AssertionError, match="Optimizer"):
        torch.optim.Adam([torch.ones(2)])
    training = training_of()
    model, optimiser = fresh(training)
    assert take_update(model, optimiser, training, 1, batches(1)) is not None


def test_restoring_goes_on_as_if_nothing_had_been_in_between():
    training = training_of()
    model, optimiser = fresh(training)
    take_update(model, optimiser, training, 1, batches(1))
    weights = {name: weight.clone() for name, weight in model.named_weights().items()}
    moments = {name: moment.clone() for name, moment in optimiser.moments.items()}
    take_update(model, optimiser, training, 2, batches(2))
    other, its_optimiser = fresh(training, seed=77)
    its_optimiser.restore(weights, moments)
    take_update(other, its_optimiser, training, 2, batches(2))
    assert torch.equal(optimiser.weights, its_optimiser.weights)
    for name, moment in optimiser.moments.items():
        assert torch.equal(moment, its_optimiser.moments[name]), name


def test_moments_are_named_after_the_weights_and_count_the_updates():
    training = training_of()
    model, optimiser = fresh(training)
    for step in (1, 2):
        take_update(model, optimiser, training, step, batches(step))
    moments = optimiser.moments
    assert set(moments) == {"updates"} | {
        f"{kind}.{name}" for kind in ("exp_avg", "exp_avg_sq") for name in model.named_weights()
    }
    assert moments["updates"] == 2
    for name, weight in model.named_weights().items():
        assert moments[f"exp_avg.{name}"].shape == weight.shape


def test_a_tied_matrix_is_one_weight_with_one_moment():
    _, optimiser = fresh(training_of())
    assert [name for name in optimiser.names if name in ("source.weight", "output.weight")] == []


@pytest.mark.parametrize("weights", [1, 1_023, 1_024, 4_000_001])
def test_the_norm_of_millions_of_gradients_is_that_in_float64(weights):
    optimiser = FlatAdam(nn.Linear(weights, 1, bias=False), training_of())
    gradients = optimiser.gradients
    gradients.normal_(generator=torch.Generator().manual_seed(3))
    expected = float(torch.linalg.vector_norm(gradients.double()))
    assert float(optimiser.gradient_norm()) == pytest.approx(expected, rel=1e-6)
    gradients[-1] = torch.inf
    assert not optimiser.gradient_norm().isfinite()
