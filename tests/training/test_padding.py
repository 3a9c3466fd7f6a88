"""Micro-batches padded to a multiple of tokens: padding changes no loss and no gradient."""

from dataclasses import replace

import pytest
import torch
from tests.reference.attention import ReferenceAttention
from tests.training.tiny import batch_of, batches, fresh, take_update, training_of

from transduce.paper.operations import PLAIN
from transduce.paper.training import update_weights

PAIRS = [batch_of([4, 1, 9], seed=1), batch_of([30, 2], seed=2), batch_of([1], seed=3)]


def update_and_gradient(training, parts, *, attention=None):
    """Take the first update of a new model; return its results and its flat gradient."""
    model, optimiser = fresh(training, dtype=torch.float64)
    model.operations = replace(
        model.operations, build_attention=attention or model.operations.build_attention
    )
    update = take_update(model, optimiser, training, 1, parts)
    assert update is not None
    return update, optimiser.gradients


@pytest.mark.parametrize("multiple", [64, 192])
@pytest.mark.parametrize("attention", [None, ReferenceAttention, PLAIN.build_attention])
def test_loss_and_gradient_are_those_without_padding(multiple, attention):
    plain, gradient = update_and_gradient(training_of(), PAIRS)
    training = training_of(pad_to_tokens=multiple)
    update, found = update_and_gradient(training, PAIRS, attention=attention)
    assert update.loss == pytest.approx(plain.loss, rel=1e-6)
    assert update.nats == pytest.approx(plain.nats, rel=1e-6)
    assert (update.source_tokens, update.target_tokens) == (47, 53), "padding is not counted"
    torch.testing.assert_close(found, gradient, rtol=0, atol=1e-12)


def test_losses_of_several_updates_agree_in_float32():
    found = []
    for multiple in (0, 128):
        training = training_of(pad_to_tokens=multiple)
        model, optimiser = fresh(training)
        taken = [take_update(model, optimiser, training, n, batches(n)) for n in range(1, 6)]
        found.append([update.loss for update in taken if update])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_every_micro_batch_has_the_same_shape(monkeypatch):
    shapes = []
    training = training_of(pad_to_tokens=128)
    model, optimiser = fresh(training)
    encode, decode = model.encode, model.decode

    def record_source(source):
        shapes.append(("source", len(source.ids), max(source.lengths) <= 64))
        return encode(source)

    def record_target(inputs, memory):
        shapes.append(("target", len(inputs.ids), max(inputs.lengths) <= 64))
        assert len(inputs.lengths) == len(memory.lengths)
        return decode(inputs, memory)

    monkeypatch.setattr(model, "encode", record_source)
    monkeypatch.setattr(model, "decode", record_target)
    update_weights(model, optimiser, training, 1, PAIRS)
    assert set(shapes) == {("source", 128, True), ("target", 128, True)}


@pytest.mark.parametrize(("lengths", "multiple"), [([127], 128), ([60], 64), ([64], 64)])
def test_a_side_that_does_not_fit_is_padded_to_the_next_multiple(lengths, multiple):
    """Every padding pair has at least one token on each side and none is long."""
    batch = batch_of(lengths, seed=1)
    padded = batch.pad_to_multiple(multiple)
    for side, filled in ((batch.source, padded.source), (batch.target, padded.target)):
        assert len(filled.ids) % multiple == 0
        padding = filled.lengths[len(side.lengths) :]
        assert all(1 <= length <= 64 for length in padding)
        assert torch.equal(filled.ids[: len(side.ids)], side.ids)
    assert len(padded.source.lengths) == len(padded.target.lengths)


def test_a_micro_batch_of_more_tokens_is_padded_to_the_next_multiple():
    _, gradient = update_and_gradient(training_of(), PAIRS[1:2])
    _, found = update_and_gradient(training_of(pad_to_tokens=64), [batch_of([30, 2], seed=2)])
    torch.testing.assert_close(found, gradient, rtol=0, atol=1e-12)
    wide = batch_of([40, 40], seed=1).pad_to_multiple(64)
    assert [len(side.ids) for side in (wide.source, wide.target)] == [128, 128]


def test_padding_sentences_are_no_longer_than_the_positions_a_model_learned():
    training = training_of(precision="bfloat16")
    model, optimiser = fresh(training, positions="learned", max_positions=10)
    assert take_update(model, optimiser, training, 1, PAIRS[:1]) is not None
    padded = PAIRS[0].pad_to_multiple(64, longest=10)
    assert max(max(side.lengths) for side in (padded.source, padded.target)) == 10
