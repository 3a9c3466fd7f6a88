"""The mean of checkpoints."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transduce.errors import FolderError, InputError
from transduce.runs.average import average_weights

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(FLOATS, min_size=3, max_size=3), min_size=1, max_size=20))
def test_it_is_the_mean_by_definition(rows):
    found = average_weights({"w": torch.tensor(row)} for row in rows)["w"]
    for index, value in enumerate(found.tolist()):
        exact = sum((Fraction(row[index]) for row in rows), Fraction(0)) / len(rows)
        scale = max(abs(Fraction(row[index])) for row in rows)
        assert abs(Fraction(value) - exact) <= abs(exact) / 2**23 + scale / 2**48 + Fraction(
            1, 2**149
        )


@given(st.lists(FLOATS, min_size=1), st.integers(1, 20), st.sampled_from(["float32", "bfloat16"]))
def test_the_mean_of_equal_checkpoints_is_equal_to_the_bit(values, count, kind):
    weights = {"w": torch.tensor(values).to(getattr(torch, kind)).nan_to_num()}
    found = average_weights([weights] * count)["w"]
    assert found.dtype == weights["w"].dtype
    assert torch.equal(found, weights["w"])


def test_what_goes_in_is_not_changed():
    first, second = {"w": torch.ones(2)}, {"w": torch.full((2,), 3.0)}
    assert average_weights([first, second])["w"].tolist() == [2, 2]
    assert first["w"].tolist() == [1, 1]
    assert second["w"].tolist() == [3, 3]


def test_nothing_has_no_mean():
    with pytest.raises(InputError, match="there is nothing to average"):
        average_weights([])


def test_checkpoints_of_different_models_are_refused_by_name():
    two, three = {"w": torch.ones(2)}, {"w": torch.ones(3)}
    with pytest.raises(FolderError, match=r"tensor 'w' has shape \(3,\), and the model has \(2,\)"):
        average_weights([two, two, three])
    with pytest.raises(FolderError, match="tensor 'v' belongs to no such model"):
        average_weights([two, {**two, "v": torch.ones(1)}])
    with pytest.raises(FolderError, match="tensor 'v' is missing"):
        average_weights([{**two, "v": torch.ones(1)}, two])
