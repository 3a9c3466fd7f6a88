"""Micro-batches filled up to one shape: fillers change no loss and no gradient."""

import pytest
import torch
from tests.training.tiny import batch_of, batches, fresh, take_update, training_of

from transduce.model.attention.bucketed import BucketedAttention
from transduce.model.attention.reference import ReferenceAttention
from transduce.training.step import queue_update

PAIRS = [batch_of([4, 1, 9], seed=1), batch_of([30, 2], seed=2), batch_of([1], seed=3)]


def learned(training, parts, *, kernel=BucketedAttention):
    model, optimiser = fresh(training, dtype=torch.float64)
    model.kernel = kernel
    update = take_update(model, optimiser, training, 1, parts)
    assert update is not None
    return update, optimiser.gradients


@pytest.mark.parametrize("slots", [64, 192])
@pytest.mark.parametrize("kernel", [BucketedAttention, ReferenceAttention])
def test_loss_and_gradient_are_those_without_fillers(slots, kernel):
    plain, gradient = learned(training_of(), PAIRS)
    update, found = learned(training_of(pad_to_tokens=slots), PAIRS, kernel=kernel)
    assert update.loss == pytest.approx(plain.loss, rel=1e-6)
    assert update.nats == pytest.approx(plain.nats, rel=1e-6)
    assert (update.source_tokens, update.target_tokens) == (47, 53), "fillers are not counted"
    torch.testing.assert_close(found, gradient, rtol=0, atol=1e-12)


def test_losses_of_several_updates_agree_in_float32():
    found = []
    for slots in (0, 128):
        training = training_of(pad_to_tokens=slots)
        model, optimiser = fresh(training)
        taken = [take_update(model, optimiser, training, n, batches(n)) for n in range(1, 6)]
        found.append([update.loss for update in taken if update])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_every_micro_batch_has_the_same_shape(monkeypatch):
    shapes = []
    training = training_of(pad_to_tokens=128)
    model, optimiser = fresh(training)
    encode, decode = model.encode, model.decode

    def encoded(source):
        shapes.append(("source", len(source.ids), max(source.lengths) <= 64))
        return encode(source)

    def decoded(inputs, memory):
        shapes.append(("target", len(inputs.ids), max(inputs.lengths) <= 64))
        assert len(inputs.lengths) == len(memory.lengths)
        return decode(inputs, memory)

    monkeypatch.setattr(model, "encode", encoded)
    monkeypatch.setattr(model, "decode", decoded)
    queue_update(model, optimiser, training, 1, PAIRS)
    assert set(shapes) == {("source", 128, True), ("target", 128, True)}


@pytest.mark.parametrize(("lengths", "slots"), [([127], 128), ([60], 64), ([64], 64)])
def test_a_side_with_too_little_room_gets_as_many_slots_again(lengths, slots):
    """Every filler has a token on either side, and a long one is no filler."""
    batch = batch_of(lengths, seed=1)
    full = batch.pad_to_multiple(slots)
    for side, filled in ((batch.source, full.source), (batch.target, full.target)):
        assert len(filled.ids) % slots == 0
        fillers = filled.lengths[len(side.lengths) :]
        assert all(1 <= length <= 64 for length in fillers)
        assert torch.equal(filled.ids[: len(side.ids)], side.ids)
    assert len(full.source.lengths) == len(full.target.lengths)


def test_more_tokens_than_slots_take_a_multiple():
    _, gradient = learned(training_of(), PAIRS[1:2])
    _, found = learned(training_of(pad_to_tokens=64), [batch_of([30, 2], seed=2)])
    torch.testing.assert_close(found, gradient, rtol=0, atol=1e-12)
    wide = batch_of([40, 40], seed=1).pad_to_multiple(64)
    assert [len(side.ids) for side in (wide.source, wide.target)] == [128, 128]
