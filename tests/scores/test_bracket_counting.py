"""Counts of one sentence's constituents: by definition, and of deep trees in time."""

from random import Random

from transduce.scores.brackets.counting import count_crossing, count_matches
from transduce.scores.brackets.parameters import PARAMETERS, is_pair
from transduce.scores.brackets.report import score_brackets
from transduce.text.trees.tree import Constituent


def test_deep_trees_of_one_span_are_counted_in_time():
    deep = "(S " * 20_000 + "(X a)" + ")" * 20_000
    found = score_brackets([deep], [deep]).pairs[0]
    assert (found.matched, found.gold, found.crossing) == (20_000, 20_000, 0)


def count_by_definition(gold, test, parameters):
    """Matches and crossing constituents, compared pair by pair."""
    left, matched = list(test), 0
    for label, start, end in gold:
        for other in left:
            same = label == other.label or is_pair(label, other.label, parameters.equal_labels)
            if (start, end) == other[1:] and (same or not parameters.labelled):
                left.remove(other)
                matched += 1
                break
    return matched, sum(any(s < a < e < b or a < s < b < e for _, s, e in gold) for _, a, b in test)


def test_matches_and_crossings_are_those_of_the_definition():
    draw = Random(31)

    def some(most):
        labels, starts = ("ADVP", "PRT", "A", "B"), draw.choices(range(most), k=draw.randint(0, 9))
        return [
            Constituent(draw.choice(labels), start, draw.choice([-1, *range(start + 1, most + 1)]))
            for start in starts
        ]

    for _ in range(2_000):
        gold, test = some(8), some(8)
        for parameters in PARAMETERS.values():
            found = count_matches(gold, test, parameters), count_crossing(gold, test)
            assert found == count_by_definition(gold, test, parameters)
