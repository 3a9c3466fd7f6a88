"""Ensembles, against one model of mean probabilities."""

import math

import pytest
import torch
from tests.reference.exhaustive_search import END
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.test_beam import assert_same, random_sources

from transduce.paper.search import beam_search
from transduce.search.ensemble import Ensemble, log_mean_exp
from transduce.settings import Search


def build_ensemble(models, beam):
    return Ensemble(tuple(ToyDecoder(model, beam) for model in models))


def build_mean_model(models):
    """Build one model whose probabilities are the means of the models'."""

    def model(source, prefix):
        distributions = zip(*(one(source, prefix) for one in models), strict=True)
        return [math.log(sum(map(math.exp, each)) / len(models)) for each in distributions]

    return model


@pytest.mark.parametrize("beam", [1, 4])
def test_an_ensemble_finds_what_one_model_of_mean_probabilities_finds(beam):
    models = [random_model(seed, symbols=7) for seed in (1, 2, 3)]
    search, sources = Search(beam=beam, extra_length=6, batch_size=8), random_sources(30)
    found = beam_search(build_ensemble(models, beam), sources, search, nbest=beam)
    expected = beam_search(ToyDecoder(build_mean_model(models), beam), sources, search, nbest=beam)
    for ours, theirs in zip(found, expected, strict=True):
        assert_same(ours, [(one.score, one.log_prob, one.ids) for one in theirs])
    first = beam_search(ToyDecoder(models[0], beam), sources, search)
    assert [best[0].ids for best in found] != [best[0].ids for best in first]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_ensemble_of_one_model_repeated_equals_the_model(times):
    model, search, sources = random_model(5, symbols=7), Search(extra_length=6), random_sources(20)
    found = beam_search(build_ensemble([model] * times, 4), sources, search, nbest=4)
    for ours, theirs in zip(
        found, beam_search(ToyDecoder(model, 4), sources, search, nbest=4), strict=True
    ):
        assert_same(ours, [(one.score, one.log_prob, one.ids) for one in theirs])


def test_a_mean_is_never_above_0_and_what_no_member_allows_stays_impossible():
    certain = torch.tensor([[0.0, -math.inf, -math.inf]])
    for members in (2, 3, 5, 7):
        mean = log_mean_exp([certain] * members)
        assert mean.tolist() == [[pytest.approx(0.0, abs=1e-6), -math.inf, -math.inf]]
        assert (mean <= 0).all()
    half = log_mean_exp([certain, certain.flip(1)])
    assert half.exp().tolist() == [pytest.approx([0.5, 0.0, 0.5])]


def test_a_member_may_end_where_others_go_on():
    def ends(_, __):
        return [math.log(0.6), math.log(0.4)]

    def goes_on(_, prefix):
        return [math.log(0.2), math.log(0.8)] if len(prefix) < 2 else [0.0, -math.inf]

    search = Search(beam=1, penalty="none", extra_length=9)
    ((found,),) = beam_search(build_ensemble([ends, goes_on], 1), [(END,)], search)
    assert found.ids == (1, 1)
    assert found.log_prob == pytest.approx(math.log(0.6 * 0.6 * 0.8), abs=1e-6)
