"""Updates on the GPU at hand: the numbers of a CPU, no waiting, compiled code, one graph."""

import math
import warnings
from contextlib import contextmanager

import pytest
import torch
from tests.model.tiny import sizes
from tests.training.tiny import SYMBOLS, batches, fresh, take_update, training_of

from transduce.fast.choose import choose_loop, equip_for_training
from transduce.fast.flat_adam import FlatAdam
from transduce.packed import move_to_device
from transduce.paper.model import build_transformer
from transduce.paper.training import AddGradients, add_gradients, update_weights

pytestmark = pytest.mark.device
BFLOAT16 = {"precision": "bfloat16"}
SETTINGS = {
    "float32": {},
    "bfloat16": BFLOAT16,
    "bfloat16 in fixed shapes": BFLOAT16 | {"pad_to_tokens": 64},
}
ARCHITECTURES = {
    "dropout of attention weights": {"attention_dropout": 0.1},
    "a neighbourhood": {"encoder_neighbourhood": 3, "decoder_neighbourhood": 3},
    "learned positions, pre-norm": {"positions": "learned", "norm": "pre"},
    "no shared embeddings": {"tie_embeddings": "none"},
}


def on_gpu(training, **changes):
    """A model of one layer with its optimiser, on the GPU."""
    model = build_transformer(sizes(**({"layers": 1} | changes)), SYMBOLS, SYMBOLS, 3).cuda()
    equip_for_training(model, training)
    return model, FlatAdam(model, training)


@contextmanager
def no_waiting():
    """Raise an error where the host waits for the device."""
    with warnings.catch_warnings():  # it says that it is a prototype
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def losses_of(built, training):
    """The losses of three updates of a model with its optimiser."""
    model, optimiser = built
    return [take_update(model, optimiser, training, n, batches(n)).loss for n in (1, 2, 3)]


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_losses_are_those_of_a_cpu_in_float32(settings):
    exact = losses_of(fresh(training_of()), training_of())
    training = training_of(**settings)
    ours = losses_of(on_gpu(training), training)
    assert ours == pytest.approx(exact, rel=0.01 if settings else 1e-5)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_host_does_not_wait_before_an_update_is_read(settings):
    training = training_of(**settings)
    model, optimiser = on_gpu(training, dropout=0.1)
    take_update(model, optimiser, training, 1, batches(1))
    with no_waiting():
        queued = update_weights(model, optimiser, training, 2, batches(2))
    assert queued
    assert math.isfinite(queued.read().loss)


@pytest.mark.parametrize("changes", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_other_architectures_train(changes):
    training = training_of(**BFLOAT16)
    built = on_gpu(training, dropout=0.1, **changes)
    assert all(map(math.isfinite, losses_of(built, training)))


def test_an_update_that_is_not_finite_changes_no_weight():
    training = training_of()
    model, optimiser = on_gpu(training)
    take_update(model, optimiser, training, 1, batches(1))
    with torch.no_grad():
        model.decoder[0].add_self.norm.bias[0] = math.nan
    before = [tensor.clone() for tensor in optimiser.state_tensors]
    assert not take_update(model, optimiser, training, 2, batches(2)).applied
    for one, other in zip(optimiser.state_tensors, before, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


def test_numbers_arrive_though_their_pinned_memory_is_used_again():
    """A copy that is still queued must not see what the host writes next."""
    busy = torch.randn(4096, 4096, device="cuda")
    sent = []
    for number in range(200):
        busy = busy @ busy / 4096
        sent.append(move_to_device(torch.full((50_000,), number), "cuda"))
    assert [int(one.float().mean()) for one in sent] == list(range(200))


def test_graphs_add_the_gradients_of_single_kernels_with_the_same_dropout():
    """Each shape comes four times: without a graph, both ways, and by the graph."""
    training = training_of(**BFLOAT16)
    found = []
    for uses_graphs in (False, True):
        model, optimiser = on_gpu(training, dropout=0.1)
        add: AddGradients = add_gradients
        if uses_graphs:
            _, add, _ = choose_loop(model, optimiser, training, batches)
        losses = []
        for step in range(1, 13):
            given = batches(1 + step % 3)
            queued = update_weights(model, optimiser, training, step, given, add_gradients=add)
            assert queued
            losses.append(queued.read().loss)
        assert bool(vars(add).get("graphs")) == uses_graphs
        found.append(losses)
    assert found[1] == pytest.approx(found[0], rel=0.01)


def test_a_model_that_no_graph_can_hold_trains_without_one():
    training = training_of(**BFLOAT16)
    model, optimiser = on_gpu(training)
    waited = []
    model.encoder[0].register_forward_pre_hook(
        lambda _, given: waited.append(float(given[0].detach().sum()))
    )
    _, add, _ = choose_loop(model, optimiser, training, batches)
    for step in (1, 2, 3):
        queued = update_weights(model, optimiser, training, step, batches(1), add_gradients=add)
        assert queued
        assert math.isfinite(queued.read().loss)
    assert not vars(add)["graphs"]
