"""Operations, chains and growth of Table 1's layers."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transduce.fast.blocks import BucketedAttention
from transduce.reproduce.layer_costs.layers import (
    LAYER_KINDS,
    build_layer,
    build_sizes,
    calculate_operations,
)
from transduce.reproduce.layer_costs.measure import (
    count_operations,
    fit_power_law,
    measure_longest_chain,
    measure_peak_bytes,
)

kinds = pytest.mark.parametrize("kind", LAYER_KINDS, ids=lambda kind: kind.name)
EXACT = torch.float64


@kinds
@pytest.mark.parametrize(("n", "d", "k", "r"), [(9, 16, 3, 5), (20, 8, 5, 3), (7, 24, 3, 15)])
def test_counted_operations_are_those_of_the_formula(kind, n, d, k, r):
    sizes = build_sizes(kind, d, k, r)
    mixing, projections = count_operations(build_layer(n, sizes, dtype=EXACT))
    scores = n / r if kind.restricted else 1  # so few positions are not cut into windows
    by_hand, projections_by_hand = calculate_operations(n, sizes)
    assert mixing == pytest.approx(scores * by_hand, rel=0.01)
    assert projections == projections_by_hand


@kinds
def test_what_is_counted_and_timed_is_the_attention_of_models(kind):
    if kind.mixing == "self-attention":
        for dtype in (torch.float32, EXACT):
            layer = build_layer(9, build_sizes(kind, 16, 3, 5), dtype=dtype)
            assert isinstance(layer.context, BucketedAttention)


@pytest.mark.parametrize("n", [128, 1024])
def test_restricted_attention_computes_a_window_for_32_positions(n):
    restricted = next(kind for kind in LAYER_KINDS if kind.restricted)
    sizes = build_sizes(restricted, 64, 3, 17)
    computed, _ = count_operations(build_layer(n, sizes, dtype=EXACT))
    assert computed * 17 == calculate_operations(n, sizes)[0] * (8 + 32 + 8)


def test_formulas_are_those_of_a_count_on_paper():
    """n = 2, d = 8, k = 3, r = 3; 8 heads of one number."""
    found = {
        kind.name: calculate_operations(2, build_sizes(kind, 8, 3, 3))[0] for kind in LAYER_KINDS
    }
    assert found == {
        "self-attention": 2 * (4 * 8 + 4 * 8),  # four pairs: each 8 for Q Kᵀ, 8 for the values
        "recurrent (LSTM)": 2 * (2 * 2 * 4 * 4 * (8 + 4)),  # words, ends, gates, numbers, from 12
        "convolutional, contiguous": 2 * (2 * 3 * 64),
        "convolutional, dilated": 2 * (2 * 3 * 64),
        "separable convolutional": 2 * (2 * 3 * 8 + 2 * 64),
        "self-attention (restricted)": 2 * (6 * 8 + 6 * 8),  # three for each word
    }


@pytest.mark.parametrize("d", [64, 512])
def test_self_attention_takes_fewer_operations_than_recurrence_for_every_n_below_d(d):
    """An LSTM takes 12 n d² operations, attention 4 n² d, its projections 8 n d²."""
    attention, recurrent = (build_sizes(kind, d, 3, 5) for kind in LAYER_KINDS[:2])

    def is_cheaper(n, *, projections):
        ours, more = calculate_operations(n, attention)
        return ours + more * projections < calculate_operations(n, recurrent)[0]

    for limit, projections in ((d, True), (3 * d, False)):
        assert all(is_cheaper(n, projections=projections) for n in range(1, limit))
        assert not is_cheaper(limit, projections=projections)


@kinds
@pytest.mark.parametrize("causal", [False, True], ids=["encoder", "decoder"])
def test_the_longest_chain_grows_with_n_in_the_recurrent_layer_only(kind, causal):
    sizes = build_sizes(kind, 16, 3, 5)
    layers = [  # long enough to be cut into windows
        build_layer(n, sizes, dtype=EXACT, causal=causal) for n in (80, 120, 160)
    ]
    chains = [measure_longest_chain(layer, layer.random_sentence(EXACT)) for layer in layers]
    grown = [second - first for first, second in pairwise(chains)]
    if kind.mixing == "recurrent":
        assert grown[0] == grown[1] > 5, "each word adds as many"
    else:
        assert grown == [0, 0]
        assert 3 <= chains[0] <= 12


@pytest.mark.parametrize(
    ("run", "length"),
    [
        (lambda x: x @ x, 1),
        (lambda x: (x + 1) * (x + 2) * (x + 3), 3),  # the sums need not wait for one another
        (lambda x: x.t().unsqueeze(0)[0].t() @ x, 1),  # views compute nothing
        (lambda x: x.clone().add_(1).mul_(2), 3),
        (lambda x: [x.exp().exp().exp(), x.exp()][1], 1),  # what leads nowhere does not count
    ],
)
def test_a_chain_is_as_long_as_what_must_wait(run, length):
    assert measure_longest_chain(run, torch.ones(3, 3)) == length


def test_the_peak_counts_tensors_that_live_at_once():
    kibibyte = torch.ones(256)

    def one_after_the_other():
        for _ in range(5):
            (kibibyte + 1).sum()

    def together():
        return torch.stack([kibibyte + 1 for _ in range(5)])

    assert measure_peak_bytes(lambda: kibibyte.view(16, 16).t()) == 0, "a view of what was there"
    assert measure_peak_bytes(lambda: (kibibyte + 1).add_(1).mul_(2).view(16, 16)) == 1024
    assert 1024 <= measure_peak_bytes(one_after_the_other) < 2048
    assert measure_peak_bytes(together) == 10 * 1024


@given(st.floats(-1, 3), st.floats(0.01, 100))
def test_a_power_is_found_again(power, factor):
    xs = [2.0, 3.0, 5.0, 17.0]
    growth = fit_power_law(xs, [factor * x**power for x in xs])
    assert growth.power == pytest.approx(power, abs=1e-9)
    assert growth.error == pytest.approx(0, abs=1e-6)


def test_the_error_of_a_power_is_that_of_least_squares():
    """ln y = 1, 2, 2 at ln x = 0, 1, 2: slope 1/2, residuals -1/6, 1/3, -1/6."""
    growth = fit_power_law([1.0, math.e, math.e**2], [math.e, math.e**2, math.e**2])
    assert growth.power == pytest.approx(0.5)
    assert growth.error == pytest.approx(math.sqrt(1 / 6 / 2))
    assert fit_power_law([1.0, 2.0], [3.0, 5.0]).error == 0
