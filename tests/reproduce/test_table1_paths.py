"""Path lengths of Table 1: formulas, gradients and a search layer by layer agree."""

import pytest

from transduce.reproduce.layer_costs.layers import (
    EXACT,
    LAYER_KINDS,
    build_layer,
    build_sizes,
    compute_reach_per_side,
)
from transduce.reproduce.layer_costs.measure import (
    has_full_dependence,
    measure_path_length,
)

kinds = pytest.mark.parametrize("kind", LAYER_KINDS, ids=lambda kind: kind.name)
in_layers = pytest.mark.parametrize(  # the steps of a recurrent layer are positions
    "kind", [kind for kind in LAYER_KINDS if kind.mixing != "recurrent"], ids=lambda kind: kind.name
)
stacks = pytest.mark.parametrize("causal", [False, True], ids=["encoder", "decoder"])


def positions_read(kind, n, layer, *, side, causal):
    """Return the positions that each position reads in one layer, by the kind's definition."""
    if kind.mixing == "self-attention" and not kind.restricted:
        steps = set(range(-n, n))
    else:
        apart = (side + 1) ** layer if kind.mixing == "dilated" else 1
        steps = {apart * step for step in range(-side, side + 1)}
    return [
        {position + s for s in steps if 0 <= position + s < n and not (causal and s > 0)}
        for position in range(n)
    ]


def layers_by_search(kind, n, *, side, causal):
    """Add layers until every output depends on every input that it may depend on."""
    dependencies, layers = [{position} for position in range(n)], 0
    wanted = [set(range(position + 1 if causal else n)) for position in range(n)]
    while dependencies != wanted:
        read = positions_read(kind, n, layers, side=side, causal=causal)
        dependencies = [set().union(*(dependencies[one] for one in inputs)) for inputs in read]
        layers += 1
    return layers


@in_layers
@stacks
@pytest.mark.parametrize(("k", "r"), [(3, 5), (5, 3)])
def test_formulas_are_exact(kind, causal, k, r):
    sizes = build_sizes(kind, 8, k, r)
    side = compute_reach_per_side(kind, sizes, causal=causal)
    for n in range(2, 30):
        expected = layers_by_search(kind, n, side=side, causal=causal)
        assert kind.path(n, side) == expected, n


@kinds
@stacks
@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_gradients_reach_as_far_as_the_formula_says(kind, causal, n):
    sizes = build_sizes(kind, 8, 3, 5)
    side = compute_reach_per_side(kind, sizes, causal=causal)
    assert measure_path_length(n, sizes, causal=causal) == kind.path(n, side)


def test_it_is_not_enough_that_the_last_output_depends_on_all_inputs():
    kind = next(kind for kind in LAYER_KINDS if kind.mixing == "convolution")
    sizes = build_sizes(kind, 8, 3, 5)
    stack = [build_layer(5, sizes, i, dtype=EXACT, causal=True) for i in range(4)]
    x = y = stack[0].random_sentence(EXACT)
    for layer in stack:
        y = layer(y)
    assert has_full_dependence(y, x, causal=True)
    assert not has_full_dependence(y, x, causal=False)


def test_the_decoder_s_dilated_path_is_the_paper_s_log_k():
    dilated = next(kind for kind in LAYER_KINDS if kind.mixing == "dilated")
    side = compute_reach_per_side(dilated, build_sizes(dilated, 8, 3, 5), causal=True)
    assert [dilated.path(3**power, side) for power in range(1, 6)] == [1, 2, 3, 4, 5]


def test_the_encoder_s_dilated_path_has_the_base_k_plus_1_over_2():
    dilated = next(kind for kind in LAYER_KINDS if kind.mixing == "dilated")
    for k in (3, 5, 7):
        side = compute_reach_per_side(dilated, build_sizes(dilated, 8, k, 5), causal=False)
        base = (k + 1) // 2
        assert [dilated.path(base**power, side) for power in range(1, 6)] == [1, 2, 3, 4, 5]


def test_layers_that_reach_no_other_position_end_the_search():
    kind = next(kind for kind in LAYER_KINDS if kind.mixing == "convolution")
    with pytest.raises(AssertionError, match="reaches the next position"):
        measure_path_length(4, build_sizes(kind, 8, 1, 5), causal=False)
