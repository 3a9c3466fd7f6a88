import numpy as np
import pytest

from transduce.errors import InputError
from transduce.packed import split_update

SOURCE = np.array([5, 2, 9, 2, 5, 1])
TARGET = np.array([4, 7, 9, 3, 2, 1])


def parts_of(indices, limit):
    return [part.tolist() for part in split_update(np.array(indices), SOURCE, TARGET, limit)]


def test_parts_are_sorted_by_source_then_target_and_keep_to_the_limit():
    # tokens of both sides: 2, 5, 9, 7, 9, 18 for the pairs 5, 3, 1, 4, 0, 2
    assert parts_of([0, 1, 2, 3, 4, 5], 18) == [[5, 3, 1], [4, 0], [2]]


def test_all_that_fits_is_one_part():
    assert parts_of([4, 0, 3], 1_000) == [[3, 4, 0]]


def test_the_split_does_not_depend_on_the_order_in_which_pairs_are_named():
    assert parts_of([5, 1, 0, 2], 20) == parts_of([0, 1, 2, 5], 20)


def test_pairs_of_equal_lengths_come_by_their_number():
    same = np.full(4, 3)
    assert split_update(np.array([2, 0, 3, 1]), same, same, 99)[0].tolist() == [0, 1, 2, 3]


def test_a_pair_over_the_limit_is_refused_with_its_number():
    with pytest.raises(InputError) as error:
        parts_of([0, 2], 17)
    assert str(error.value) == (
        "pair 3 has 18 pieces, more than may be in memory at once "
        "(training.micro_batch_tokens = 17)\n"
        "hint: raise training.micro_batch_tokens, or lower data.max_length"
    )
