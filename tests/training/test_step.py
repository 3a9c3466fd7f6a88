import itertools
import math
from dataclasses import replace

import pytest
import torch
from tests.training.stopping import single_process_until
from tests.training.tiny import batch_of, batches, fresh, joined, take_update, training_of

from transduce.paper.operations import PLAIN
from transduce.paper.training import batch_loss, dropout_seed


def gradient_of(parts, **changes):
    training = training_of()
    model, optimiser = fresh(training, dtype=torch.float64, **changes)
    update = take_update(model, optimiser, training, 1, parts)
    assert update is not None
    return update, optimiser.gradients


def test_an_update_does_not_depend_on_its_split_into_micro_batches():
    pairs = [batch_of([n], seed=n) for n in (5, 1, 3, 8, 2)]
    splits = ([joined(pairs)], pairs, [joined(pairs[:2]), joined(pairs[2:])])
    found = [gradient_of(parts) for parts in splits]
    for update, gradient in found[1:]:
        torch.testing.assert_close(gradient, found[0][1], rtol=0, atol=1e-12)
        for name in ("loss", "nats", "gradient_norm"):
            assert getattr(update, name) == pytest.approx(getattr(found[0][0], name), rel=1e-12)
        assert (update.source_tokens, update.target_tokens) == (19, 24)


def test_loss_and_norm_are_what_they_say():
    """Per target token; the norm of the whole gradient."""
    update, gradient = gradient_of(batches(1))
    assert update.gradient_norm == pytest.approx(math.sqrt(sum(g**2 for g in gradient.tolist())))
    assert 1 < update.nats < 4, "a new model knows nothing of nine symbols: about ln 9"
    assert update.loss == pytest.approx(0.9 * update.nats, rel=0.3)


def test_dropout_differs_between_steps_and_micro_batches_and_is_the_same_again():
    training = training_of()
    one = batch_of([4, 6], seed=1)

    def loss(step, parts):
        model, optimiser = fresh(training, dropout=0.3)
        torch.manual_seed(torch.seed() % 1000)  # whatever was drawn before does not matter
        update = take_update(model, optimiser, training, step, parts)
        assert update is not None
        return update.loss

    assert loss(1, [one]) == loss(1, [one])
    assert loss(1, [one]) != loss(2, [one])
    assert loss(1, [one, one]) != loss(1, [one]), "the second part has a mask of its own"


def test_no_two_micro_batches_of_a_run_share_a_dropout_seed():
    micro_batches = list(itertools.product((1, 2), range(1, 40), range(9)))
    seeds = {dropout_seed(*one) for one in micro_batches}
    assert len(seeds) == len(micro_batches)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert dropout_seed(1, 11, 1) != dropout_seed(1, 1, 11) != dropout_seed(11, 1, 1)


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_an_update_that_is_not_finite_moves_no_weight_and_no_moment(poison):
    training = training_of()
    model, optimiser = fresh(training)
    take_update(model, optimiser, training, 1, batches(1))
    with torch.no_grad():
        model.decoder[0].feed_forward.outer.bias[0] = poison
    before = {**model.named_weights(), **optimiser.moments}
    before = {name: tensor.clone() for name, tensor in before.items()}
    update = take_update(model, optimiser, training, 2, batches(2))
    assert update is not None
    assert not update.applied
    for name, tensor in {**model.named_weights(), **optimiser.moments}.items():
        torch.testing.assert_close(tensor, before[name], rtol=0, atol=0, equal_nan=True)


def test_a_stopped_update_is_none_and_moves_nothing():
    training = training_of()
    model, optimiser = fresh(training)
    before = optimiser.weights.detach().clone()
    asked = iter([False, True])
    stopping = single_process_until(lambda: next(asked))
    assert take_update(model, optimiser, training, 1, batches(1), stopping) is None
    assert torch.equal(optimiser.weights, before)
    assert not optimiser.moments["updates"]
    update = take_update(model, optimiser, training, 1, batches(1))
    other, its_optimiser = fresh(training)
    again = take_update(other, its_optimiser, training, 1, batches(1))
    assert update == again, "what the stopped update had computed is forgotten"


def test_an_update_trains_in_training_mode_also_after_a_validation():
    training = training_of()
    model, optimiser = fresh(training, dropout=0.5)
    model.eval()
    after_a_validation = take_update(model, optimiser, training, 1, batches(1))
    model, optimiser = fresh(training, dropout=0.5)
    assert take_update(model, optimiser, training, 1, batches(1)) == after_a_validation


def test_padding_changes_neither_loss_nor_gradient():
    batch, training = batch_of([5, 1, 8], seed=1), training_of()
    found = []
    for pad in (PLAIN.pad_batch, lambda batch: batch.pad_to_multiple(64)):
        model, optimiser = fresh(training, dtype=torch.float64)
        model.operations = replace(model.operations, pad_batch=pad)
        loss, nats = batch_loss(model, training, batch)
        loss.backward()
        found.append([loss.detach(), nats, optimiser.gradients])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)
