from hypothesis import given
from hypothesis import strategies as st

from transduce.training.distributed.torch_group import assign_micro_batches


@given(st.lists(st.integers(1, 9_000), max_size=40), st.integers(1, 9))
def test_every_micro_batch_is_assigned_once_and_loads_are_near_equal(costs, world_size):
    found = assign_micro_batches(costs, world_size)
    assert sorted(number for share in found for number in share) == list(range(len(costs)))
    loads = [sum(costs[number] for number in share) for share in found]
    assert max(loads) - min(loads) <= max(costs, default=0)


def test_the_costliest_comes_first_and_each_share_keeps_the_order():
    assert assign_micro_batches([3, 9, 4, 2, 1], 2) == [[1, 4], [0, 2, 3]]
    assert assign_micro_batches([5, 5], 3) == [[0], [1], []]
