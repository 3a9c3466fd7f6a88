"""Self-attention restricted to a neighbourhood of r positions, centred; announced, not used."""

import pytest
import torch
from tests.model.tiny import BEGIN, model_of, packed, sizes

from transduce.errors import InputError
from transduce.inference.attention_weights import capture_attention
from transduce.recipes import by_name, names
from transduce.settings import Architecture

R = [1, 3, 5, 9]


def weights_of(**changes):
    return capture_attention(
        model_of(sizes(**changes)), packed([9]), packed([9]).shift_right(BEGIN)
    )


def attended_positions(weights):
    """Which positions the fifth of nine looks at, the same in all heads."""
    assert all(torch.equal(head > 0, weights[0] > 0) for head in weights)
    return (weights[0, 4] > 0).nonzero().flatten().tolist()


@pytest.mark.parametrize("r", R)
def test_an_encoder_position_sees_r_positions_around_it(r):
    """|i - j| <= (r - 1) / 2."""
    for layer in weights_of(encoder_neighbourhood=r).weights["encoder"]:
        assert attended_positions(layer[0]) == list(range(4 - r // 2, 5 + r // 2))


@pytest.mark.parametrize("r", R)
def test_a_decoder_position_sees_the_past_half_of_them(r):
    for layer in weights_of(decoder_neighbourhood=r).weights["decoder"]:
        assert attended_positions(layer[0]) == list(range(4 - r // 2, 5))


def test_the_stacks_are_restricted_separately_and_cross_attention_never():
    near, past, all_nine = [3, 4, 5], [0, 1, 2, 3, 4], list(range(9))
    for changes, encoder, decoder in (
        ({"encoder_neighbourhood": 3}, near, past),
        ({"decoder_neighbourhood": 1}, all_nine, [4]),
        ({"encoder_neighbourhood": 3, "decoder_neighbourhood": 1}, near, [4]),
    ):
        kinds = weights_of(**changes).weights
        for kind, expected in (("encoder", encoder), ("decoder", decoder), ("cross", all_nine)):
            assert [attended_positions(layer[0]) for layer in kinds[kind]] == [expected] * 2


def test_an_even_r_has_no_centre_and_is_refused():
    with pytest.raises(InputError, match=r"architecture.encoder_neighbourhood must be odd, not 4"):
        Architecture(encoder_neighbourhood=4)
    with pytest.raises(InputError, match=r"architecture.decoder_neighbourhood must be odd, not 2"):
        Architecture(decoder_neighbourhood=2)


def test_the_paper_uses_none():
    papers = [name for name in names() if name.startswith(("table2/", "table3/", "table4/"))]
    assert len(papers) > 25
    for name in papers:
        sizes_of_it = by_name(name).architecture
        assert (sizes_of_it.encoder_neighbourhood, sizes_of_it.decoder_neighbourhood) == (0, 0)
