"""The search for trees, against the plain rule and every tree that there is."""

import math
import random
from collections import Counter
from functools import cache

import pytest
from tests.reference.plain_beam_search import plain_beam_search
from tests.reference.plain_constraints import END, enumerate_allowed, satisfies
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.draws import draw
from tests.search.test_beam import SCORES, assert_same, score_function
from tests.search.test_tree_constraint import NAMES, random_trees, rule, tree

from transduce.errors import NotFiniteError
from transduce.paper.search import beam_search
from transduce.search.constraints import ConstrainedModel, ConstrainedSource
from transduce.settings import Search
from transduce.settings.search import Sampling


def masked(model, constraint):
    """Give the symbols which the plain rule forbids probability 0."""

    @cache
    def state_after(prefix):
        return state_after(prefix[:-1]).advance(prefix[-1]) if prefix else rule(constraint)

    def log_probs(source, prefix):
        legal = state_after(prefix).allowed()
        return [
            p if symbol in legal else -math.inf for symbol, p in enumerate(model(source, prefix))
        ]

    return log_probs


def source_of(constraint, number=0, pieces=0):
    """Build a source of the constraint's words, and `pieces` more, whose ids differ by number."""
    ids = (*range(100 * number + 2, 100 * number + 2 + constraint.words + pieces), END)
    return ConstrainedSource(ids, constraint)


def search_trees(model, sources, search, nbest=1):
    decoder = ConstrainedModel(ToyDecoder(model, search.beam))
    return beam_search(decoder, sources, search, nbest=nbest)


def rank_all(model, source, search):
    """Return every tree that the plain rule allows, best first."""
    score, found = score_function(search), []
    for ids in enumerate_allowed(rule(source.constraint)):
        log_p = sum(model(source.ids, ids[:i])[(*ids, END)[i]] for i in range(len(ids) + 1))
        found.append((score(log_p, len(ids) + 1), log_p, ids))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("settings", SCORES, ids=str)
@pytest.mark.parametrize("pieces", [0, 2])
def test_a_wide_beam_finds_all_trees_in_their_order(settings, pieces):
    """Near the limit there are far fewer continuations than candidates, many of them forbidden."""
    for words, limit, count in [(1, 8, 6), (2, 7, 14), (3, 8, 26)]:
        constraint = tree(words, limit, max_open=2)
        search = Search(beam=count + 9, extra_length=limit - words - 1, **settings)
        source, model = source_of(constraint, pieces=pieces), random_model(words, len(NAMES))
        expected = rank_all(model, source, search)
        assert len(expected) == count
        (found,) = search_trees(model, [source], search, nbest=count + 9)
        assert_same(found, expected)
        assert all(math.isfinite(one.score) for one in found)


@pytest.mark.parametrize("beam", [1, 2, 4, 21])
@pytest.mark.parametrize("settings", SCORES[:1] + SCORES[-1:], ids=str)
def test_any_beam_finds_what_plain_beam_search_finds_under_the_plain_rule(beam, settings):
    search = Search(beam=beam, extra_length=12, **settings)
    for number, constraint in enumerate(random_trees(7, seed=beam)):
        model, source = random_model(number, len(NAMES)), source_of(constraint)
        expected = plain_beam_search(
            masked(model, constraint),
            source.ids,
            beam=beam,
            max_length=constraint.words + 13,
            score=score_function(search),
        )
        (found,) = search_trees(model, [source], search, nbest=beam)
        assert_same(found, expected[:beam])
        assert all(satisfies(rule(constraint), one.ids) for one in found)


@pytest.mark.parametrize("beam", [1, 4])
def test_trees_do_not_depend_on_the_batch(beam):
    """Sentences join the search and leave it while others are in the middle of their trees."""
    sources = [source_of(c, n) for n, c in enumerate(random_trees(20, seed=5))]
    model = random_model(2, len(NAMES))
    separate = [
        search_trees(model, [s], Search(beam=beam, extra_length=9), nbest=beam)[0] for s in sources
    ]
    for batch in (3, 64):
        search = Search(beam=beam, extra_length=9, batch_size=batch)
        assert search_trees(model, sources, search, nbest=beam) == separate


@pytest.mark.parametrize("beam", [1, 3])
def test_a_free_result_that_is_a_tree_keeps_its_score(beam):
    """The model gives one tree so much probability that a free search finds it."""
    draw, search = random.Random(2), Search(beam=beam, extra_length=12)
    for number, constraint in enumerate(random_trees(8, seed=9)):
        wanted = (*draw.choice(list(enumerate_allowed(rule(constraint)))), END)

        def model(_, prefix, wanted=wanted):
            likely = wanted[len(prefix)] if prefix == wanted[: len(prefix)] else END
            return [math.log(0.93 if symbol == likely else 0.01) for symbol in range(len(NAMES))]

        source = source_of(constraint, number)
        free = beam_search(ToyDecoder(model, beam), [source.ids], search)
        assert free[0][0].ids == wanted[:-1]
        assert search_trees(model, [source], search) == free


def test_a_search_that_must_end_earlier_than_the_constraint_ends_only_in_trees():
    model, source = random_model(3, len(NAMES)), source_of(tree(1, 40, max_open=10))
    (found,) = search_trees(model, [source], Search(beam=64, extra_length=4), nbest=64)
    expected = [tuple(map(NAMES.index, ["(" + a, "XX", ")" + a])) for a in "AB"]
    expected += [
        tuple(map(NAMES.index, ["(" + a, "(" + b, "XX", ")" + b, ")" + a]))
        for a in "AB"
        for b in "AB"
    ]
    assert sorted(one.ids for one in found) == sorted(expected)
    with pytest.raises(NotFiniteError):
        search_trees(model, [source], Search(beam=64, extra_length=1))


SAMPLINGS = [
    {},
    {"temperature": 30.0},
    {"top_k": 3},
    {"top_p": 0.5},
    {"temperature": 0.01},
    {"temperature": 2.0, "top_k": 5, "top_p": 0.9},
]


@pytest.mark.parametrize("settings", SAMPLINGS, ids=str)
def test_samples_are_trees_whatever_the_settings(settings):
    constraints = random_trees(20, seed=4, most_words=6)
    sources = [source_of(constraint, number) for number, constraint in enumerate(constraints)]
    decoder = ConstrainedModel(ToyDecoder(random_model(1, len(NAMES)), 5))
    search, sampling = Search(extra_length=9, batch_size=7), Sampling(**settings)
    found = draw(decoder, sources, search, sampling, samples=5)
    for number, constraint in enumerate(constraints):
        assert len(found[number]) == 5
        for one in found[number]:
            assert satisfies(rule(constraint), one.ids)
            assert len(one.ids) < constraint.limit
            assert math.isfinite(one.score)


def test_trees_are_drawn_as_often_as_the_model_says_among_the_allowed_symbols():
    constraint, model = tree(2, 7), random_model(8, len(NAMES), sharpness=1.0)
    source, draws, expected = source_of(constraint), 4_000, {}
    for ids in enumerate_allowed(rule(constraint)):
        rows = [masked(model, constraint)(source.ids, ids[:i]) for i in range(len(ids) + 1)]
        totals = [sum(map(math.exp, row)) for row in rows]
        steps = zip((*ids, END), rows, totals, strict=True)
        expected[ids] = math.prod(math.exp(row[symbol]) / total for symbol, row, total in steps)
    assert sum(expected.values()) == pytest.approx(1)
    decoder, search = ConstrainedModel(ToyDecoder(model, draws)), Search(extra_length=4)
    found = draw(decoder, [source], search, Sampling(), samples=draws)[0]
    counts = Counter(one.ids for one in found)
    assert counts.keys() <= expected.keys()
    assert sum(abs(counts[ids] / draws - p) for ids, p in expected.items()) / 2 < 0.04
