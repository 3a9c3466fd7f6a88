import math

import pytest
import torch
from tests.model.tiny import packed, sizes, states_of

from transduce.paper.model import build_transformer, compute_sinusoids
from transduce.settings import Architecture

WIDE = Architecture(layers=1, d_model=64, d_ff=160, heads=2, d_k=16, d_v=48)


def matrices():
    """Each matrix of a model under the name that the paper gives it, with its fan."""
    weights = build_transformer(WIDE, 100, 100, seed=1).named_weights()
    queries, values = 2 * 16, 2 * 48
    for stack in ("encoder", "decoder"):
        together = weights[f"{stack}.0.self_attention.query_key_value.weight"]
        parts = together.split([queries, queries, values])
        yield from ((f"{stack} {name}", part) for name, part in zip("QKV", parts, strict=True))
        yield f"{stack} O", weights[f"{stack}.0.self_attention.output.weight"]
        yield f"{stack} W1", weights[f"{stack}.0.feed_forward.inner.weight"]
        yield f"{stack} W2", weights[f"{stack}.0.feed_forward.outer.weight"]
    yield "cross Q", weights["decoder.0.cross_attention.query.weight"]
    keys, cross_values = weights["decoder.0.cross_attention.key_value.weight"].split(
        [queries, values]
    )
    yield from (("cross K", keys), ("cross V", cross_values))
    yield "cross O", weights["decoder.0.cross_attention.output.weight"]


def test_every_matrix_is_uniform_within_the_bound_of_its_own_fan():
    """The last of a sub-layer by the root of their number smaller: 2 and 3 in one layer."""
    found = dict(matrices())
    assert len(found) == 16
    for name, matrix in found.items():
        bound = math.sqrt(6 / sum(matrix.shape))
        if name.endswith(("O", "W2")):
            bound /= math.sqrt(2 if name.startswith("encoder") else 3)
        assert matrix.abs().max() <= bound, name
        assert matrix.abs().max() > 0.99 * bound, name
        assert abs(matrix.mean()) < 0.1 * bound, name
        assert matrix.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05), name


@pytest.mark.parametrize("tie", ["all", "none"])
def test_embeddings_are_normal_with_deviation_one_over_root_d_model(tie):
    architecture = sizes(tie_embeddings=tie, d_model=64, positions="learned", max_positions=200)
    weights = build_transformer(architecture, 300, 300, seed=1).named_weights()
    tables = {name: weight for name, weight in weights.items() if name.count(".") == 1}
    positions = {name for name in tables if "position" in name}
    assert len(positions) == 2
    assert len(tables) == {"all": 3, "none": 5}[tie]
    for name in tables.keys() - positions:
        table = tables[name]
        assert table.std().item() == pytest.approx(1 / 8, rel=0.03), name
        assert table.abs().max() > 3 / 8, f"{name} is normal, not uniform"


def test_learned_positions_begin_normal_and_as_large_as_the_sinusoids():
    sinusoids = compute_sinusoids(200, 64)
    weights = build_transformer(
        sizes(d_model=64, positions="learned", max_positions=200), 300, 300, seed=1
    ).named_weights()
    tables = [weight for name, weight in weights.items() if "position" in name]
    assert len(tables) == 2
    for table in tables:
        assert table.square().mean().item() == pytest.approx(
            sinusoids.square().mean().item(), rel=0.03
        )
        assert table.abs().max() > 2, "normal, not uniform"


def test_biases_begin_at_zero_and_norms_at_one():
    for name, weight in build_transformer(WIDE, 10, 10, seed=1).named_weights().items():
        if "norm" in name:
            assert (weight == (1.0 if name.endswith("weight") else 0.0)).all(), name
        elif name.endswith("bias"):
            assert not weight.any(), name


def test_the_seed_alone_decides_the_first_weights():
    first, other = (
        build_transformer(sizes(), 9, 9, seed=4),
        build_transformer(sizes(), 9, 9, seed=5),
    )
    torch.manual_seed(123)
    torch.rand(7)
    again = build_transformer(sizes(), 9, 9, seed=4)
    same = zip(first.named_weights().values(), again.named_weights().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in same)
    assert not torch.equal(first.target.weight, other.target.weight)


def test_the_states_of_a_new_model_of_six_layers_have_the_size_of_a_norm():
    model = build_transformer(sizes(layers=6, d_model=64), 30, 30, seed=1)
    for states in states_of(model, packed([9, 4], symbols=30), packed([5, 7], symbols=30)):
        assert states.square().mean().item() == pytest.approx(1, rel=0.02)
