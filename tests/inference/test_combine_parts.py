"""The n best outputs of a line that was split: the n best sums over all combinations."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.inference.random_models import LINES, random_translator

from transduce.inference.lines import split_line
from transduce.inference.outputs import combine_best, combine_samples
from transduce.paper.search import Hypothesis

scores = st.lists(st.floats(-50, 0, width=32), min_size=1, max_size=4)
parts_of_scores = st.lists(scores.map(lambda one: sorted(one, reverse=True)), max_size=5)


def as_parts(values):
    """Hypotheses with these scores, whose ids name their part and rank."""
    return [
        [Hypothesis((part, rank), score, score) for rank, score in enumerate(row)]
        for part, row in enumerate(values)
    ]


@given(parts_of_scores, st.integers(1, 9))
def test_the_sums_are_the_n_best_of_all_combinations(values, n):
    parts = as_parts(values)
    found = combine_best(parts, n)
    every = sorted((sum(h.score for h in c) for c in itertools.product(*parts)), reverse=True)
    assert [sum(h.score for h in chosen) for chosen in found] == every[:n]
    assert len({tuple(h.ids for h in chosen) for chosen in found}) == len(found)
    assert all([h.ids[0] for h in chosen] == list(range(len(parts))) for chosen in found)


def test_equal_sums_are_ordered_by_the_ranks_of_the_parts():
    found = combine_best(as_parts([[0.0, -1.0], [0.0, -1.0]]), 4)
    assert [[h.ids[1] for h in chosen] for chosen in found] == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_many_parts_take_no_longer_than_their_number():
    found = combine_best(as_parts([[0.0, -1.0, -2.0]] * 3_000), 4)
    assert [sum(h.score for h in chosen) for chosen in found] == [0.0, -1.0, -1.0, -1.0]


def test_the_outputs_of_a_split_line_are_the_best_sums_of_its_parts():
    model = replace(random_translator(longest=12), on_warning=lambda _: None).searching(beam=3)
    line = " ".join(one for one in LINES if one)
    parts, _ = split_line(line, 1, model.task, 12, strict=False)
    assert len(parts) == 3
    alone = [[one.score for one in model.nbest(part.text, 3)] for part in parts]
    best = sorted(map(sum, itertools.product(*alone)), reverse=True)[:3]
    assert [one.score for one in model.nbest(line, 3)] == pytest.approx(best, abs=1e-4)


def test_samples_of_parts_are_joined_by_their_numbers():
    parts = as_parts([[-3.0, -1.0], [-1.0, -2.0]])
    found = combine_samples(parts, 2)
    assert [[h.ids for h in chosen] for chosen in found] == [[(0, 0), (1, 0)], [(0, 1), (1, 1)]]


@pytest.mark.parametrize("combine", [combine_best, combine_samples])
def test_a_line_without_parts_has_one_empty_combination(combine):
    assert combine([], 1) == [[]]
