"""Positional encoding."""

import math

import pytest
import torch
from tests.model.tiny import BEGIN, model_of, packed, sizes
from tests.paper.test_section_3_1_stacks import built

from transduce.packed import Packed
from transduce.paper.model import EncoderOutput, compute_sinusoids
from transduce.settings import Architecture


def test_without_positions_a_word_s_state_is_the_same_wherever_the_words_stand():
    """No recurrence and no convolution: only the encodings tell the model the order."""
    model, words = model_of(sizes(positions="learned")), packed([6])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    turned = Packed(words.ids[order], words.lengths)
    assert not torch.allclose(model.encode(turned).states, model.encode(words).states[order])
    torch.nn.init.zeros_(model.source_positions.weight)
    torch.testing.assert_close(model.encode(turned).states, model.encode(words).states[order])


def test_without_positions_a_decoder_layer_knows_no_order_of_the_symbols_before():
    """Nor of the source. A second layer would: symbols in front have states of what they saw."""
    model = model_of(sizes(positions="learned", layers=1))
    memory, order = model.encode(packed([4])), torch.tensor([3, 0, 2, 1, 4])
    words = packed([5], seed=3)
    turned = Packed(words.ids[order], words.lengths)

    def last_state(inputs):
        return model.decode(inputs, memory)[-1]

    assert not torch.allclose(last_state(turned), last_state(words))
    torch.nn.init.zeros_(model.target_positions.weight)
    torch.testing.assert_close(last_state(turned), last_state(words))
    source = EncoderOutput(memory.states[torch.tensor([2, 0, 3, 1])], memory.lengths)
    torch.testing.assert_close(model.decode(words, source), model.decode(words, memory))


def test_sine_and_cosine_are_interleaved():
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same; pos from 0."""
    table = compute_sinusoids(50, 12)
    for pos in range(50):
        for i in range(6):
            angle = pos / 10_000 ** (2 * i / 12)
            assert table[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)
    assert table[0].tolist() == [0, 1] * 6


def test_the_wavelengths_are_a_geometric_series_from_two_pi_to_10_000_times_two_pi():
    """The last exponent is (d_model - 2) / d_model, so the longest wave comes just below."""
    angles = torch.atan2(compute_sinusoids(2, 512)[1, 0::2], compute_sinusoids(2, 512)[1, 1::2])
    waves = 2 * math.pi / angles
    assert waves[0].item() == pytest.approx(2 * math.pi)
    assert waves[-1].item() == pytest.approx(2 * math.pi * 10_000 ** (510 / 512))
    ratios = waves[1:] / waves[:-1]
    torch.testing.assert_close(ratios, torch.full_like(ratios, 10_000 ** (2 / 512)))


def test_a_fixed_offset_is_a_linear_map_of_the_encoding():
    """PE(pos + k) is a rotation of PE(pos), the same for every pos."""
    table = compute_sinusoids(60, 16).unflatten(1, (8, 2))
    near, far = table[:50], table[7:57]
    frequencies = 10_000 ** (-torch.arange(8, dtype=torch.float64) / 8)
    cos, sin = (7 * frequencies).cos(), (7 * frequencies).sin()
    turned = torch.stack(
        [near[..., 0] * cos + near[..., 1] * sin, near[..., 1] * cos - near[..., 0] * sin], dim=-1
    )
    torch.testing.assert_close(turned, far)


def test_they_are_added_to_the_embeddings_at_the_bottoms_of_both_stacks_at_any_length():
    model, bottoms = model_of(), []
    for stack in (model.encoder, model.decoder):
        stack[0].register_forward_pre_hook(lambda _, given: bottoms.append(given[0]))
    source, target = packed([1500, 3]), packed([2, 1200]).shift_right(BEGIN)
    model.decode(target, model.encode(source))
    for words, bottom in zip((source, target), bottoms, strict=True):
        positions = torch.cat([compute_sinusoids(length, 8) for length in words.lengths])
        by_hand = model.source.weight[words.ids] * 8**0.5 + positions
        torch.testing.assert_close(bottom, by_hand, rtol=0, atol=1e-6)


def test_row_e_learns_a_table_of_the_same_width_for_each_stack():
    model = built(Architecture(positions="learned"))
    tables = [model.source_positions.weight, model.target_positions.weight]
    assert [tuple(table.shape) for table in tables] == [(1024, 512)] * 2
    assert tables[0] is not tables[1]
    learned = model_of(sizes(positions="learned"))
    bottoms = []
    for stack in (learned.encoder, learned.decoder):
        stack[0].register_forward_pre_hook(lambda _, given: bottoms.append(given[0]))
    words = packed([3, 2])
    learned.decode(words, learned.encode(words))
    for bottom, own in zip(
        bottoms, (learned.source_positions, learned.target_positions), strict=True
    ):
        by_hand = learned.source.weight[words.ids] * 8**0.5 + own.weight[[0, 1, 2, 0, 1]]
        torch.testing.assert_close(bottom, by_hand)
