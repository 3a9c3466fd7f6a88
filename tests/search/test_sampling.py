"""Sampling: the distribution of the settings, drawn as a function of seed, source and number."""

import math
import random
from collections import Counter

import pytest
import torch
from tests.reference.exhaustive_search import END, enumerate_outputs
from tests.reference.plain_constraints import satisfies
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.search.draws import draw
from tests.search.test_beam import random_sources
from tests.search.test_constraints import Brackets

from transduce.errors import InputError, NotFiniteError
from transduce.paper.search import beam_search
from transduce.search.constraints import ConstrainedModel, ConstrainedSource
from transduce.search.sampling import filter_candidates, sample_symbols
from transduce.settings import Search
from transduce.settings.search import Sampling

SEARCH = Search(penalty="none", extra_length=3)
DRAWS = 4_000


def draw_samples(model, sources, sampling, *, samples=1, search=SEARCH, keys=None):
    decoder = ToyDecoder(model, samples)
    found = draw(decoder, sources, search, sampling, samples=samples, keys=keys)
    return [found[number] for number in range(len(sources))]


def expected_distribution(log_probs, temperature=1.0, top_k=0, top_p=1.0):
    """Return the distribution that a symbol is drawn from, computed on a list."""
    weights = {symbol: math.exp(p / temperature) for symbol, p in enumerate(log_probs)}
    order = sorted(weights, key=lambda symbol: -weights[symbol])[: top_k or None]
    kept, share, total = [], 0.0, sum(weights[symbol] for symbol in order)
    for symbol in order:
        if share < top_p:
            kept.append(symbol)
        share += weights[symbol] / total
    total = sum(weights[symbol] for symbol in kept)
    return {symbol: weights[symbol] / total for symbol in kept}


def chi_square(counts, expected, total):
    return sum((counts[key] - total * p) ** 2 / (total * p) for key, p in expected.items())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"temperature": 0.5},
        {"temperature": 2.0},
        {"top_k": 3},
        {"top_p": 0.7},
        {"temperature": 1.5, "top_k": 5, "top_p": 0.8},
    ],
    ids=str,
)
def test_symbols_come_as_often_as_their_distribution_says(settings):
    log_probs = random_model(2, symbols=8, sharpness=1.0)((), ())
    rows = torch.tensor([log_probs]).expand(20_000, -1)
    counts = Counter(sample_symbols(rows, torch.arange(20_000), Sampling(**settings)).tolist())
    expected = expected_distribution(log_probs, **settings)
    assert counts.keys() == expected.keys()
    assert chi_square(counts, expected, 20_000) < 24.3  # 7 degrees of freedom: 0.1 % are above


@pytest.mark.parametrize("temperature", [1e-30, 1e-37, 1e-44, 5e-324])
def test_near_zero_every_draw_is_the_likeliest_symbol(temperature):
    log_probs = random_model(2, symbols=8, sharpness=1.0)((), ())
    rows = torch.tensor([log_probs]).expand(100, -1)
    drawn = sample_symbols(rows, torch.arange(100), Sampling(temperature=temperature))
    assert set(drawn.tolist()) == {max(range(8), key=lambda symbol: log_probs[symbol])}


def test_at_any_high_temperature_all_symbols_but_the_impossible_come_alike():
    log_probs = torch.tensor([[-math.inf, -1.0, -50.0]]).expand(600, 3)
    keys = torch.arange(600)
    counts = Counter(sample_symbols(log_probs, keys, Sampling(temperature=1e300)).tolist())
    assert counts.keys() == {1, 2}
    assert abs(counts[1] - 300) < 75  # six standard deviations


def test_whole_outputs_come_as_often_as_the_model_says():
    """Every output of up to 3 symbols and END, with its probability; at the limit it must end."""
    model = random_model(6, symbols=3, sharpness=1.0)
    (found,) = draw_samples(model, [(END,)], Sampling(), samples=DRAWS)
    assert len(found) == DRAWS
    counts = Counter(one.ids for one in found)
    expected = {}
    for log_p, n, ids in enumerate_outputs(model, (END,), 3, 4):
        forced = model((END,), ids)[END] if n == 4 else 0.0
        expected[ids] = math.exp(log_p - forced)
    assert sum(expected.values()) == pytest.approx(1)
    distance = sum(abs(counts[ids] / DRAWS - p) for ids, p in expected.items()) / 2
    assert distance < 0.03


def test_scores_are_the_model_s_own_whatever_the_temperature():
    model, search = random_model(6, symbols=5), Search(penalty="average", extra_length=4)
    for sampling in (Sampling(), Sampling(temperature=3.0), Sampling(top_k=2)):
        (found,) = draw_samples(model, [(7, END)], sampling, samples=20, search=search)
        for one in found:
            positions = range(len(one.ids) + 1)
            log_p = sum(model((7, END), one.ids[:i])[(*one.ids, END)[i]] for i in positions)
            assert one.log_prob == pytest.approx(log_p, abs=1e-5)
            assert one.score == pytest.approx(log_p / (len(one.ids) + 1), abs=1e-5)


@pytest.mark.parametrize(
    "settings", [{}, {"top_k": 4}, {"temperature": 0.7, "top_p": 0.9}], ids=str
)
def test_a_sample_depends_on_seed_source_and_number_and_not_on_the_batch(settings):
    model, sources, sampling = random_model(3, symbols=9), random_sources(40), Sampling(**settings)
    search = Search(extra_length=9)
    separate = [
        draw_samples(model, [source], sampling, samples=3, search=search, keys=[key])[0]
        for key, source in enumerate(sources)
    ]
    for batch in (1, 7, 64):
        order = random.Random(batch).sample(range(40), 40)
        together = draw_samples(
            model,
            [sources[number] for number in order],
            sampling,
            samples=3,
            search=Search(extra_length=9, batch_size=batch),
            keys=order,
        )
        assert together == [separate[number] for number in order]


def test_fewer_samples_are_the_first_of_more():
    model, sources = random_model(3, symbols=9), random_sources(10)
    more = draw_samples(model, sources, Sampling(), samples=5)
    assert draw_samples(model, sources, Sampling(), samples=2) == [five[:2] for five in more]
    assert draw_samples(model, sources, Sampling()) == [five[:1] for five in more]


def test_another_seed_another_key_another_number_another_sample():
    model = random_model(3, symbols=50)
    source = (7, 8, END)
    found = [
        one.ids
        for seed in (1, 2)
        for line in draw_samples(
            model, [source] * 5, Sampling(seed=seed), samples=3, search=Search(extra_length=20)
        )
        for one in line
    ]
    assert len(set(found)) > 25  # of 30: short ones may be drawn twice


def test_the_one_likeliest_symbol_is_greedy_search():
    model, sources = random_model(3, symbols=9), random_sources(30)
    greedy = beam_search(ToyDecoder(model, 1), sources, Search(beam=1, extra_length=9))
    for sampling in (Sampling(top_k=1), Sampling(top_p=1e-9), Sampling(temperature=1e-6)):
        assert draw_samples(model, sources, sampling, search=Search(extra_length=9)) == greedy


def test_samples_satisfy_constraints():
    model, sources = random_model(3, symbols=4), random_sources(30, max_length=3)
    constrained = [ConstrainedSource(source, Brackets(len(source) + 6)) for source in sources]
    decoder, search = ConstrainedModel(ToyDecoder(model, 4)), Search(extra_length=6, batch_size=5)
    found = draw(decoder, constrained, search, Sampling(), samples=4)
    outputs = [one.ids for number in range(30) for one in found[number]]
    assert len(outputs) == 120
    assert all(satisfies(Brackets(99), ids) for ids in outputs)
    assert len(set(outputs)) > 4


def test_of_equals_the_lower_symbol_is_among_the_top():
    values = torch.tensor([[-1.0, -2.0, -2.0, -2.0]])
    assert filter_candidates(values, Sampling(top_k=2))[1].tolist() == [[0, 1]]


def test_more_symbols_at_the_top_than_there_are_is_all():
    values = torch.tensor([[-1.0, -2.0]])
    assert filter_candidates(values, Sampling(top_k=9))[1].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"temperature": 0.0},
            "sampling.temperature must be a number above 0, not 0.0\nhint: near 0",
        ),
        ({"temperature": math.nan}, "sampling.temperature must be a number above 0, not nan"),
        ({"temperature": math.inf}, "sampling.temperature must be a number above 0, not inf"),
        ({"top_k": -1}, "sampling.top_k must be a count, or 0 for all symbols, not -1"),
        ({"top_p": 0.0}, "sampling.top_p must be above 0 and at most 1, not 0.0"),
        ({"top_p": 1.5}, "sampling.top_p must be above 0 and at most 1, not 1.5"),
        ({"seed": -1}, "sampling.seed must be a number from 0 to 2^63 - 1, not -1"),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(settings, message):
    with pytest.raises(InputError) as error:
        Sampling(**settings)
    assert str(error.value).startswith(message)


def test_no_samples_are_refused():
    with pytest.raises(InputError, match="0 samples are asked for"):
        draw(ToyDecoder(random_model(1, 3), 1), [], SEARCH, Sampling(), samples=0)


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_a_model_that_gives_no_probabilities_is_an_error_not_a_sample(value):
    with pytest.raises(NotFiniteError, match="no translation of sentence 1 has a finite"):
        draw_samples(lambda *_: [value] * 4, [(END,)], Sampling())
