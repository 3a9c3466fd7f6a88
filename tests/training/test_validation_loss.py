import pytest
import torch
from tests.training.tiny import batch_of, fresh, joined, training_of
from torch.nn import functional

from transduce.runs.validation import sum_validation_loss
from transduce.vocabulary import BEGIN


def test_nats_are_summed_over_all_target_pieces_ends_included():
    model, _ = fresh(training_of(), dtype=torch.float64, dropout=0.5)
    batch = batch_of([3, 5], seed=1)
    nats, tokens = sum_validation_loss(model, [batch])
    assert tokens == 4 + 6
    with torch.no_grad():
        states = model.decode(batch.target.shift_right(BEGIN), model.encode(batch.source))
        log_p = model.logits(states).log_softmax(dim=1)
    by_hand = -sum(float(row[piece]) for row, piece in zip(log_p, batch.target.ids, strict=True))
    assert nats == pytest.approx(by_hand, rel=1e-12)


def test_a_validation_does_not_depend_on_the_batches_nor_on_dropout():
    model, _ = fresh(training_of(), dtype=torch.float64, dropout=0.5)
    parts = [batch_of([n], seed=n) for n in (2, 7, 4)]
    apart, together = sum_validation_loss(model, parts), sum_validation_loss(model, [joined(parts)])
    assert apart == pytest.approx(together, rel=1e-12)


def test_a_validation_leaves_no_gradient():
    model, optimiser = fresh(training_of())
    sum_validation_loss(model, [batch_of([3], seed=1)])
    assert not optimiser.gradients.any()


def test_no_smoothing_is_in_a_perplexity():
    model, _ = fresh(training_of(label_smoothing=0.9), dtype=torch.float64)
    batch = batch_of([3], seed=1)
    nats, tokens = sum_validation_loss(model, [batch])
    states = model.decode(batch.target.shift_right(BEGIN), model.encode(batch.source))
    mean = functional.cross_entropy(model.logits(states), batch.target.ids)
    assert nats / tokens == pytest.approx(float(mean.detach()))
