"""Beam search, against plain Python, and against trying every output."""

import math
import random
from typing import Any

import pytest
import torch
from tests.reference.exhaustive_search import END, enumerate_outputs
from tests.reference.plain_beam_search import plain_beam_search
from tests.reference.toy_decoder import ToyDecoder, random_model

from transduce.errors import InputError, NotFiniteError
from transduce.exports.proof import restrict_ends
from transduce.paper.search import (
    LENGTH_TERMS,
    beam_search,
    beam_strategy,
    compact_sentences,
    run_continuous_batching,
)
from transduce.search.bounds import choose_beam_strategy
from transduce.settings import Search
from transduce.settings.search import PENALTIES

SCORES: list[dict[str, Any]] = [{"penalty": penalty} for penalty in PENALTIES]
SCORES += [{"penalty": "reward", "gamma": 3.0}]  # most scores are above 0


def random_sources(count, max_length=6, seed=1):
    """Build different sources of many lengths, each with its END."""
    draw = random.Random(seed)
    lengths = [draw.randint(0, max_length) for _ in range(count)]
    return [(*(draw.randrange(2, 99) for _ in range(n)), END) for n in lengths]


def score_function(search):
    """Return the score of the search as a function of log P and length, both plain numbers."""

    def score(log_prob, length):
        divisor, reward = LENGTH_TERMS[search.penalty](length, search)
        return log_prob / divisor + reward

    return score


def search_plainly(model, source, search, nbest, **options):
    found = plain_beam_search(
        model,
        source,
        beam=search.beam,
        max_length=len(source) + search.extra_length,
        score=score_function(search),
        **options,
    )
    return found[:nbest]


def assert_same(hypotheses, expected):
    assert [h.ids for h in hypotheses] == [ids for _, _, ids in expected]
    assert [h.score for h in hypotheses] == pytest.approx([s for s, _, _ in expected], abs=1e-5)
    assert [h.log_prob for h in hypotheses] == pytest.approx([p for _, p, _ in expected], abs=1e-5)


@pytest.mark.parametrize("settings", SCORES, ids=str)
def test_a_width_that_covers_all_finds_the_best_of_all_sentences(settings):
    search = Search(beam=8, extra_length=3, **settings)
    score = score_function(search)
    for seed in range(20):
        model = random_model(seed, symbols=3)
        outputs = enumerate_outputs(model, (END,), 3, 4)
        everything = sorted(((score(p, n), p, ids) for p, n, ids in outputs), reverse=True)
        (found,) = beam_search(ToyDecoder(model, 8), [(END,)], search, nbest=8)
        assert_same(found, everything[:8])


def test_a_beam_of_2_finds_what_greedy_search_misses():
    def model(_, prefix):  # the best first symbol leads to bad second ones
        rows = {(): (0.05, 0.0, 0.55, 0.4), (2,): (0.4, 0.0, 0.3, 0.3), (3,): (0.9, 0.0, 0.1, 0.0)}
        return [math.log(p) if p else -math.inf for p in rows.get(prefix, (1.0, 0.0, 0.0, 0.0))]

    def best(beam):
        search = Search(beam=beam, penalty="none")
        return beam_search(ToyDecoder(model, beam), [(END,)], search)[0][0].ids

    assert best(1) == (2,)
    assert best(2) == (3,)


@pytest.mark.parametrize(("rule", "expected"), [(lambda ours: ours, ()), (restrict_ends, (3,))])
def test_an_end_of_low_rank_finishes_unless_only_the_best_half_may_end(rule, expected):
    def model(_, prefix):  # END is the third of the first symbols, with P = 0.2; (3,) has 0.18
        rows = {(): (0.2, 0, 0.4, 0.3, 0.1), (2,): (0.3, 0, 0, 0, 0.7), (3,): (0.6, 0, 0, 0, 0.4)}
        return [math.log(p) if p else -math.inf for p in rows.get(prefix, (0.1, 0, 0, 0, 0.9))]

    search, decoder = Search(beam=2, penalty="none"), ToyDecoder(model, 2)
    strategy = rule(beam_strategy(decoder, [(END,)], search, 1))
    ((_, (found,)),) = run_continuous_batching(decoder, [(END,)], search, strategy)
    assert found.ids == expected


def test_a_beam_of_1_takes_the_likeliest_symbol_until_it_is_end():
    for seed in range(50):
        model = random_model(seed, symbols=5)
        ids: tuple[int, ...] = ()
        while len(ids) < 9 and (symbol := max(range(5), key=model((7, END), ids).__getitem__)):
            ids = (*ids, symbol)
        (found,) = beam_search(ToyDecoder(model, 1), [(7, END)], Search(beam=1, extra_length=8))
        assert found[0].ids == ids


def test_stopping_early_changes_nothing():
    stopped_early = 0
    for seed in range(300):
        draw = random.Random(seed)
        beam = draw.randint(1, 5)
        search = Search(
            beam=beam,
            alpha=draw.choice([0.0, 0.6, 1.0]),
            extra_length=6,
            **draw.choice(SCORES),
        )
        nbest, model = draw.randint(1, beam), random_model(seed, draw.randint(2, 12))
        decoder = ToyDecoder(model, beam)
        (found,) = beam_search(decoder, [(5, 6, END)], search, nbest=nbest)
        assert_same(found, search_plainly(model, (5, 6, END), search, nbest))
        stopped_early += decoder.steps < 9
    assert stopped_early > 150


def test_the_rule_early_keeps_the_best_of_the_first_that_end():
    lost = 0
    for seed in range(100):
        draw = random.Random(seed)
        beam = draw.randint(1, 5)
        search = Search(beam=beam, extra_length=6, stop="early", **draw.choice(SCORES))
        nbest, model = draw.randint(1, beam), random_model(seed, draw.randint(2, 12))
        decoder, sources = ToyDecoder(model, beam), [(5, 6, END)]
        strategy = choose_beam_strategy(decoder, sources, search, nbest)
        ((_, found),) = run_continuous_batching(decoder, sources, search, strategy)
        assert_same(found[:nbest], search_plainly(model, sources[0], search, nbest, enough=beam))
        lost += found[0].ids != search_plainly(model, sources[0], search, 1)[0][2]
    assert lost > 10  # which is why it is not the default


def test_many_symbols_are_searched_as_few_are():
    """Wide rows are searched block by block, and the blocks do not divide the symbols."""
    model, search = random_model(1, symbols=1_111, sharpness=1.0), Search(beam=3, extra_length=5)
    for source in random_sources(3):
        (found,) = beam_search(ToyDecoder(model, 3), [source], search, nbest=3)
        assert_same(found, search_plainly(model, source, search, 3))


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_a_result_does_not_depend_on_the_batch(beam):
    model, sources = random_model(3, symbols=9), random_sources(40)
    separate = [
        beam_search(ToyDecoder(model, beam), [s], Search(beam=beam, extra_length=9), nbest=beam)[0]
        for s in sources
    ]
    for batch in (1, 3, 7, 64):
        search = Search(beam=beam, extra_length=9, batch_size=batch)
        order = random.Random(batch).sample(range(40), 40)
        shuffled = [sources[index] for index in order]
        found = beam_search(ToyDecoder(model, beam), shuffled, search, nbest=beam)
        assert found == [separate[index] for index in order]


def test_waiting_sentences_take_the_slots_of_finished_ones():
    model, sources = random_model(3, symbols=9), random_sources(40)
    decoder = ToyDecoder(model, 2)
    beam_search(decoder, sources, Search(beam=2, extra_length=9, batch_size=8))
    steps_of_fixed_batches = 0
    for first in range(0, 40, 8):
        twin, some = ToyDecoder(model, 2), sorted(sources, key=len, reverse=True)[first : first + 8]
        beam_search(twin, some, Search(beam=2, extra_length=9, batch_size=8))
        steps_of_fixed_batches += twin.steps
    assert decoder.steps < steps_of_fixed_batches


def test_results_are_yielded_as_soon_as_they_are_final():
    def model(source, prefix):  # copies the source
        return [0.0 if i == (*source, END)[len(prefix)] else -9.0 for i in range(10)]

    sources = [(5, END), (5, 6, 7, END), (END,), (8, 9, END)]
    decoder, search = ToyDecoder(model, 2), Search(beam=2, batch_size=2)
    strategy = beam_strategy(decoder, sources, search)
    found = run_continuous_batching(decoder, sources, search, strategy)
    pairs = [(number, best[0].ids) for number, best in found]
    assert [number for number, _ in pairs] == [3, 1, 0, 2]
    assert dict(pairs) == {0: (5,), 1: (5, 6, 7), 2: (), 3: (8, 9)}


def test_no_sources_no_results():
    assert beam_search(ToyDecoder(random_model(1, 3), 4), [], Search()) == []


@pytest.mark.parametrize("beam", [1, 4])
def test_an_output_ends_at_input_length_and_50_more(beam):
    def model(_, prefix):  # never wants to end
        return [-30.0, -9.0, -0.1 - len(prefix) / 100, -3.0]

    search = Search(beam=beam, penalty="average", extra_length=50)
    ((found,),) = beam_search(ToyDecoder(model, beam), [(4, 5, 6, END)], search)
    assert found.ids == (2,) * 53
    assert found.log_prob == pytest.approx(-30.0 + sum(-0.1 - i / 100 for i in range(53)), abs=1e-4)
    assert found.score == pytest.approx(found.log_prob / 54, abs=1e-6)


def test_hypotheses_come_best_first_and_no_more_than_there_are():
    def model(_, prefix):  # three sentences: (), (2,), (2, 2)
        return [-0.5, -math.inf, -1.0 if len(prefix) < 2 else -math.inf]

    search = Search(beam=5, penalty="none")
    (found,) = beam_search(ToyDecoder(model, 5), [(END,)], search, nbest=5)
    assert_same(found, [(-0.5, -0.5, ()), (-1.5, -1.5, (2,)), (-2.5, -2.5, (2, 2))])


def test_equal_scores_are_ordered_by_the_lower_symbol():
    def model(_, prefix):
        return [-1.0] * 300 if not prefix else [-1.0] + [-math.inf] * 299

    search = Search(beam=4, penalty="none")
    (found,) = beam_search(ToyDecoder(model, 4), [(END,)], search, nbest=4)
    assert [h.ids for h in found] == [(), (1,), (2,), (3,)]


def test_more_hypotheses_than_the_beam_holds_are_refused():
    with pytest.raises(InputError) as error:
        beam_search(ToyDecoder(random_model(1, 3), 4), [], Search(), nbest=5)
    assert "5 best hypotheses are asked for, but the beam holds 4" in str(error.value)
    assert "hint: ask for 1 or more, and at most as many as search.beam" in str(error.value)
    with pytest.raises(InputError, match="0 best hypotheses are asked for"):
        beam_search(ToyDecoder(random_model(1, 3), 4), [], Search(), nbest=0)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
@pytest.mark.parametrize("beam", [1, 3])
def test_a_model_that_gives_no_probabilities_is_an_error_not_a_translation(beam, value):
    def model(source, _):
        return [value] * 4 if len(source) == 2 else [-0.1, -9.0, -9.0, -9.0]

    with pytest.raises(NotFiniteError) as error:
        beam_search(ToyDecoder(model, beam), [(END,), (7, END)], Search(beam=beam, extra_length=2))
    assert "no translation of sentence 2 has a finite probability" in str(error.value)
    assert "hint: the weights are damaged" in str(error.value)


def test_the_search_runs_in_inference_mode():
    class CheckingDecoder(ToyDecoder):
        def step(self, state, ids):
            assert torch.is_inference_mode_enabled()
            return super().step(state, ids)

    beam_search(CheckingDecoder(random_model(1, 4), 4), [(END,)], Search())
    assert not torch.is_inference_mode_enabled()


def test_the_last_sentences_move_into_the_slots_of_finished_ones():
    assert compact_sentences([False, True, False, True, False, False]) == [0, 4, 2, 5]
    assert compact_sentences([True, True, False]) == [2]
    assert compact_sentences([True]) == []
