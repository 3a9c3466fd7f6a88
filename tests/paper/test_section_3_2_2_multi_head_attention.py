"""MultiHead(Q, K, V) = Concat(head_1 .. head_h) W^O; head_i attends in projections of its own."""

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes, states_of
from tests.paper.test_section_3_1_stacks import built
from tests.reference.attention import attention_by_hand

from transduce.paper.operations import FULL_ATTENTION, build_padded_attention
from transduce.settings import Architecture


def test_base_has_eight_heads_of_64():
    """h = 8 and d_k = d_v = d_model / h = 64."""
    base = Architecture()
    assert (base.heads, base.d_k, base.d_v, base.d_model // base.heads) == (8, 64, 64, 64)


@pytest.mark.parametrize(("d_k", "d_v"), [(64, 64), (16, 64), (32, 128)])
def test_projections_have_the_shapes_of_the_text(d_k, d_v):
    """W_i^Q, W_i^K: d_model x d_k; W_i^V: d_model x d_v; W^O: h d_v x d_model."""
    model = built(Architecture(layers=1, d_k=d_k, d_v=d_v))
    cross = model.decoder[0].cross_attention
    both = [model.encoder[0].self_attention, model.decoder[0].self_attention]
    for own in both:
        assert own.query_key_value.weight.shape == (8 * (d_k + d_k + d_v), 512)
    assert cross.query.weight.shape == (8 * d_k, 512)
    assert cross.key_value.weight.shape == (8 * (d_k + d_v), 512)
    for one in (*both, cross):
        assert one.output.weight.shape == (512, 8 * d_v)


def test_projections_are_matrices_without_biases():
    model = built()
    for stack, stored in ((model.encoder, 2), (model.decoder, 2 + 3)):
        of_attention = [one for name, one in stack.named_parameters() if "attention" in name]
        assert len(of_attention) == 6 * stored, "some projections lie in one matrix"
        assert all(one.dim() == 2 for one in of_attention)


@pytest.mark.parametrize("changes", [{"heads": 1}, {"heads": 3}, {"d_k": 1}, {"d_v": 2}])
def test_d_k_and_d_v_are_free_of_d_model_over_h(changes):
    """Rows (A) and (B) of Table 3 vary them; here every combination runs."""
    model, own = model_of(sizes(**changes)), {"heads": 2, "d_k": 3, "d_v": 5} | changes
    for layer in (*model.encoder, *model.decoder):
        rows = len(layer.self_attention.query_key_value.weight)
        assert rows == own["heads"] * (2 * own["d_k"] + own["d_v"])
    for states in states_of(model, packed([3, 4]), packed([2, 5])):
        assert states.shape == (7, 8)


@torch.no_grad()
def test_the_heads_are_concatenated_and_mapped_by_w_o():
    """Every head by hand from its own slices of the projections, in all three uses."""
    model = model_of(sizes(heads=2, d_k=3, d_v=5))
    x, z = torch.randn(6, 8, dtype=torch.float64), torch.randn(4, 8, dtype=torch.float64)
    for own in (model.encoder[0].self_attention, model.decoder[0].self_attention):
        matrices = own.query_key_value.weight.split([6, 6, 10])
        by_hand = concatenate_heads(x, x, *matrices) @ own.output.weight.T
        found = own(x, build_padded_attention([6], [6], FULL_ATTENTION))
        torch.testing.assert_close(found, by_hand, rtol=0, atol=1e-12)
    cross = model.decoder[0].cross_attention
    matrices = cross.query.weight, *cross.key_value.weight.split([6, 10])
    by_hand = concatenate_heads(x, z, *matrices) @ cross.output.weight.T
    found = cross(x, z, build_padded_attention([6], [4], FULL_ATTENTION))
    torch.testing.assert_close(found, by_hand, rtol=0, atol=1e-12)


def concatenate_heads(x, z, w_q, w_k, w_v):
    """Two heads with queries of x, keys and values of z."""
    heads = []
    for i in range(2):
        q, k, v = (
            (one @ w[i * n : (i + 1) * n].T)[:, None]
            for one, w, n in ((x, w_q, 3), (z, w_k, 3), (z, w_v, 5))
        )
        heads.append(attention_by_hand(q, k, v, lambda *_: True)[:, 0])
    return torch.cat(heads, dim=1)
