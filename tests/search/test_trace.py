"""The recorded steps of a beam search, against the distributions they were made of."""

import math

import pytest
from tests.reference.toy_decoder import ToyDecoder, random_model

from transduce.paper.search import beam_search
from transduce.search.trace import trace_beam_search
from transduce.settings import Search
from transduce.vocabulary import END

SOURCE = (5, 6, END)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("seed", range(10))
def test_recording_changes_no_result_and_live_hypotheses_have_their_own_probability(beam, seed):
    search, model = Search(beam=beam, extra_length=4), random_model(seed, symbols=6)
    trace = trace_beam_search(ToyDecoder(model, beam), SOURCE, search, alternatives=2)
    assert [trace.best] == beam_search(ToyDecoder(model, beam), [SOURCE], search)[0]
    for length, live in enumerate(trace.steps):
        assert [len(one.ids) for one in live] == [length] * (beam if length else 1)
        assert live == sorted(live, key=lambda one: -one.log_prob)
        for one in live:
            log_prob = sum(model(SOURCE, one.ids[:n])[one.ids[n]] for n in range(length))
            assert one.log_prob == pytest.approx(log_prob, abs=1e-5)
            best = sorted(enumerate(model(SOURCE, one.ids)), key=lambda pair: -pair[1])[:2]
            assert [symbol for symbol, _ in one.following] == [symbol for symbol, _ in best]


def test_dead_hypotheses_and_impossible_symbols_are_left_out():
    def model(_, prefix):
        return [-math.inf, -math.inf, 0.0] if len(prefix) < 2 else [0.0, -math.inf, -math.inf]

    trace = trace_beam_search(ToyDecoder(model, 3), SOURCE, Search(beam=3), alternatives=3)
    assert [[one.ids for one in live] for live in trace.steps] == [[()], [(2,)], [(2, 2)]]
    assert [live[0].following for live in trace.steps] == [((2, 0.0),), ((2, 0.0),), ((0, 0.0),)]
