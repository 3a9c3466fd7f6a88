import math

import pytest
import torch
from tests.model.tiny import packed, sizes

from transduce.errors import InputError
from transduce.packed import Packed
from transduce.paper.model import (
    LearnedPositions,
    SinusoidalPositions,
    build_positions,
    compute_sinusoids,
)


def test_the_table_of_sinusoids_grows_when_a_longer_sentence_comes():
    positions = SinusoidalPositions(6)
    indices = torch.tensor([0, 511, 512, 5000])
    assert torch.equal(positions(indices, 5001), compute_sinusoids(5001, 6).float()[indices])
    assert torch.equal(positions(indices[:2], 512), compute_sinusoids(5001, 6).float()[indices[:2]])


def test_the_table_of_sinusoids_is_no_weight_and_is_in_no_file():
    positions = build_positions(sizes())
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_marians_positions_are_all_sines_then_all_cosines_with_wavelengths_of_their_own():
    positions = build_positions(sizes(positions="tensor2tensor"))
    d_model = sizes().d_model
    halves = [10000 ** (i / (d_model / 2 - 1)) for i in range(d_model // 2)]
    row = [math.sin(7 / one) for one in halves] + [math.cos(7 / one) for one in halves]
    found = positions(torch.tensor([7]), 8)[0]
    torch.testing.assert_close(found, torch.tensor(row))
    assert torch.equal(positions(torch.tensor([7]), 5001)[0], found)


def test_learned_positions_are_rows_of_a_table():
    positions = build_positions(sizes(positions="learned", max_positions=5))
    assert isinstance(positions, LearnedPositions)
    positions.initialise(torch.Generator())  # memory that is not set may hold NaN
    indices = torch.tensor([4, 0, 4])
    assert torch.equal(positions(indices, 5), positions.weight[indices])


def test_a_sentence_longer_than_the_learned_positions_is_refused_with_a_hint():
    positions = LearnedPositions(5, 4)
    with pytest.raises(InputError) as caught:
        positions(torch.tensor([5]), 6)
    assert caught.value.fact == "a sentence has 6 pieces, this model learned 5 positions"
    assert "split the line" in caught.value.hint


def test_positions_are_counted_from_zero_in_each_sentence():
    assert packed([3, 1, 4]).compute_positions().tolist() == [0, 1, 2, 0, 0, 1, 2, 3]


def test_shift_right_moves_every_sentence_for_itself():
    shifted = Packed.from_sentences([[5, 6, 0], [0], [7, 0]]).shift_right(1)
    assert shifted.to_sentences() == [[1, 5, 6], [1], [1, 7]]
