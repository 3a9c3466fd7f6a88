"""Other compatibility functions than q · k / √d_k, each compared with its formula (3.2.1, 6.2)."""

import math
from dataclasses import replace

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes, states_of

from transduce.equip import equip_for_inference, equip_for_long_searches
from transduce.paper.model import Compatibility, StepwiseTransformer, build_transformer
from transduce.paper.operations import PLAIN, compatibility_scores
from transduce.paper.search import beam_search
from transduce.settings import Search, Training
from transduce.settings.search import InferencePrecision
from transduce.training.equip import equip_for_training

FORMULAS = {
    "scaled-dot": lambda q, k, _: q @ k / math.sqrt(3),
    "dot": lambda q, k, _: q @ k,
    "bilinear": lambda q, k, w: q @ w @ k / math.sqrt(3),
    "additive": lambda q, k, w: w[0] @ torch.tanh(q + k),
}
every = pytest.mark.parametrize("kind", FORMULAS)


@every
def test_a_query_and_a_key_of_a_head_are_compared_by_the_formula(kind):
    """Two heads with queries and keys of three numbers."""
    layer = Compatibility(sizes(compatibility=kind)).double()
    layer.initialise(torch.Generator().manual_seed(1))
    q, k = torch.randn(2, 4, 2, 3, dtype=torch.float64)
    found = compatibility_scores(layer(q).transpose(0, 1), k.transpose(0, 1))
    weights = [None, None] if layer.weight is None else layer.weight.detach().chunk(2)
    for head, i, j in [(0, 1, 2), (1, 3, 0)]:
        expected = FORMULAS[kind](q[i, head], k[j, head], weights[head])
        torch.testing.assert_close(found[head, i, j], expected)


@every
def test_whatever_trains_fast_gives_the_plain_states(kind):
    model, batch = model_of(sizes(compatibility=kind)), (packed([5, 1, 8]), packed([4, 9, 2]))
    expected = states_of(model, *batch)
    equip_for_training(model, Training())
    torch.testing.assert_close(states_of(model, *batch), expected)


@every
@pytest.mark.parametrize("precision", [None, InferencePrecision.FLOAT32])
def test_whatever_searches_fast_finds_what_the_plain_search_finds(kind, precision):
    sources, search = packed([5, 3, 8]).to_sentences(), Search(beam=3)
    model = model_of(sizes(compatibility=kind)).float()
    expected = beam_search(StepwiseTransformer(model), sources, search)
    equip_for_inference(model, precision)
    equip_for_long_searches([model])
    assert model.operations != PLAIN
    found = beam_search(StepwiseTransformer(model), sources, search)
    assert [[one.ids for one in best] for best in found] == [
        [one.ids for one in best] for best in expected
    ]


def test_glorot_s_rule_alone_leaves_last_matrices_as_they_were_drawn():
    scaled = sizes(layers=2)
    ours = build_transformer(scaled, 11, 11, 1).named_weights()
    drawn = build_transformer(replace(scaled, initialisation="glorot"), 11, 11, 1).named_weights()
    divided = {name: 4 if name.startswith("encoder") else 6 for name in ours if ".output." in name}
    for name in ours:
        if "feed_forward.outer.weight" in name:
            divided[name] = 4 if name.startswith("encoder") else 6
        torch.testing.assert_close(ours[name] * math.sqrt(divided.get(name, 1)), drawn[name])
