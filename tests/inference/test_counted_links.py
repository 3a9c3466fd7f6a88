"""Alignment by counts: words that often stand together are linked, in any order."""

import random

import numpy as np

from transduce.inference.counted_links import ROUNDS, learn_link_weights, learn_links

WORDS = [f"w{number}" for number in range(40)]


def make_pairs(count, *, is_reversed=False):
    """Return texts of made-up words and their translations, "w7" as "W7"."""
    rng = random.Random(3)
    sources = [rng.sample(WORDS, rng.randint(2, 9)) for _ in range(count)]
    step = -1 if is_reversed else 1
    return sources, [[word.upper() for word in source[::step]] for source in sources]


def test_words_that_stand_together_are_linked_by_both_directions():
    sources, targets = make_pairs(300)
    for source, links in zip(sources, learn_links(sources, targets), strict=True):
        assert links.sure == {(i, i) for i in range(len(source))}


def test_the_order_of_words_may_turn():
    sources, targets = make_pairs(300, is_reversed=True)
    found = learn_links(sources, targets)
    right = total = 0
    for source, links in zip(sources, found, strict=True):
        wanted = {(i, len(source) - 1 - i) for i in range(len(source))}
        right, total = right + len(links.sure & wanted), total + len(wanted)
    assert right / total > 0.7  # by chance 0.25


def test_a_word_more_on_one_side_gives_a_possible_link_only():
    sources, targets = make_pairs(300)
    sources.append(["w1", "w2"])
    targets.append(["W1", "W2", "W2"])
    links = learn_links(sources, targets)[-1]
    assert links.sure <= links.all
    assert {(0, 0), (1, 1), (1, 2)} <= links.all
    assert len(links.sure) == 2


def test_each_round_is_the_expectation_over_links_and_the_maximum_of_their_counts():
    """Two pairs, "a b" with "x y" and "a" with "x", reckoned link by link."""
    pairs = [(["a", "b"], ["x", "y"]), (["a"], ["x"])]
    table = {(s, t): 1.0 for s in "ab" for t in "xy"}
    for _ in range(ROUNDS):
        counts = dict.fromkeys(table, 0.0)
        for ours, theirs in pairs:
            for t in theirs:
                for s in ours:
                    counts[s, t] += table[s, t] / sum(table[other, t] for other in ours)
        sums = {s: counts[s, "x"] + counts[s, "y"] for s in "ab"}
        table = {(s, t): count / sums[s] for (s, t), count in counts.items()}
    entries = [0, 2, 1, 3, 0]  # a-x b-x a-y b-y, and a-x of the second pair
    found = learn_link_weights(
        np.array(entries), np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1, 2]), np.ones(5)
    )
    names = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert np.allclose(found, [table[names[entry]] for entry in entries])
