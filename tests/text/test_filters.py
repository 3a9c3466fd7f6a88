"""The table of pairs seen."""

import random

from transduce.text.filters import Seen


def test_the_table_agrees_with_a_set():
    draw = random.Random(1)
    seen, truth = Seen(), set()
    for _ in range(20_000):
        pair = (str(draw.randrange(120)), str(draw.randrange(120)))
        assert seen.add(*pair) == (pair not in truth)
        truth.add(pair)
    assert seen.count == len(truth)


def test_the_table_stays_small():
    seen = Seen()
    for number in range(50_000):
        seen.add(str(number), "x")
    assert seen.count == 50_000
    assert len(seen.table) * seen.table.itemsize < 16 * 50_000


def test_the_border_between_the_sides_counts():
    seen = Seen()
    assert seen.add("ab", "c")
    assert seen.add("a", "bc")
