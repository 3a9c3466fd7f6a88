"""The table of pairs seen."""

import random

from transduce.text.clean import DuplicateFilter


def test_the_table_agrees_with_a_set():
    draw = random.Random(1)
    seen, truth = DuplicateFilter(), set()
    for _ in range(20_000):
        pair = (str(draw.randrange(120)), str(draw.randrange(120)))
        assert seen.add(*pair) == (pair not in truth)
        truth.add(pair)
    assert seen.count == len(truth)


def test_the_table_stays_small_while_it_grows():
    seen = DuplicateFilter()
    for count in range(1, 50_001):
        seen.add(str(count), "x")
        assert seen.count == count
        assert 8 * len(seen.table) <= max(8 * 1024, 16 * count)


def test_the_border_between_the_sides_counts():
    seen = DuplicateFilter()
    assert seen.add("ab", "c")
    assert seen.add("a", "bc")
