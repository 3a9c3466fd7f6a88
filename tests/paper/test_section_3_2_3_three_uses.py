"""Three uses of attention."""

import pytest
import torch
from tests.model.tiny import BEGIN, SYMBOLS, model_of, packed, states_of

from transduce.inference.attention_weights import capture_attention
from transduce.packed import Packed


def changed(batch, changed_index):
    """The same batch with another symbol at one index."""
    ids = batch.ids.clone()
    ids[changed_index] = (ids[changed_index] + 1) % SYMBOLS
    return Packed(ids, batch.lengths)


def test_every_encoder_position_attends_to_all_positions():
    """In each layer: two restricted layers together would reach as far."""
    model, x = model_of(), torch.randn(9, 8, dtype=torch.float64)
    for layer in model.encoder:
        attend = layer.self_attention.build_attention(model.operations, (9,))
        before = layer(x, attend)
        for changed_index in range(9):
            other = x.clone()
            other[changed_index] += 1
            assert (before != layer(other, attend)).any(dim=1).all()


def test_a_decoder_position_attends_up_to_and_including_itself():
    model, inputs = model_of(), packed([5])
    memory = model.encode(packed([3]))
    before = model.decode(inputs, memory)
    for changed_index in range(5):
        moved = (before != model.decode(changed(inputs, changed_index), memory)).any(dim=1)
        assert moved.tolist() == [position >= changed_index for position in range(5)]


def test_every_decoder_position_attends_to_all_of_the_source():
    """Queries from the decoder; keys and values from the encoder's output."""
    model, source, inputs = model_of(), packed([4]), packed([3]).shift_right(BEGIN)
    for layer in capture_attention(model, source, inputs).weights["cross"]:
        assert layer[0].shape == (2, 3, 4)
        assert (layer[0] > 0).all()


def test_all_decoder_layers_see_the_output_of_the_last_encoder_layer():
    model, seen, last = model_of(), [], []
    model.encoder[-1].register_forward_hook(lambda _, __, out: last.append(out))
    for layer in model.decoder:
        layer.cross_attention.register_forward_hook(lambda _, given, __: seen.append(given[1]))
    memory = model.encode(packed([4]))
    model.decode(packed([3]), memory)
    assert len(seen) == 2
    assert all(z is last[0] for z in seen)


@pytest.mark.parametrize("side", [0, 1], ids=["source", "target"])
@pytest.mark.parametrize(("changed_index", "others"), [(0, slice(4, 7)), (4, slice(4))])
def test_no_sentence_of_a_batch_sees_another(side, changed_index, others):
    """Neither in the encoder nor in the decoder, which reads both sides."""
    model, before = model_of(), [packed([4, 3]), packed([4, 3], seed=5)]
    after = [changed(text, changed_index) if i == side else text for i, text in enumerate(before)]
    for first, second in zip(states_of(model, *before), states_of(model, *after), strict=True):
        assert torch.equal(first[others], second[others])
