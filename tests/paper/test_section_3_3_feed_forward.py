"""Equation 2: FFN(x) = max(0, x W1 + b1) W2 + b2."""

import pytest
import torch
from tests.model.tiny import model_of
from tests.paper.test_section_3_1_stacks import built
from torch.nn.functional import conv1d


@pytest.fixture(params=["encoder", "decoder"])
def network(request):
    """The last feed-forward network of a stack."""
    return getattr(model_of(), request.param)[-1].feed_forward


def test_the_network_is_two_linear_maps_with_a_relu_between(network):
    x = torch.randn(4, 8, dtype=torch.float64)
    with torch.no_grad():
        hidden = x @ network.inner.weight.T + network.inner.bias
        by_hand = hidden.clamp(min=0) @ network.outer.weight.T + network.outer.bias
        torch.testing.assert_close(network(x), by_hand, rtol=0, atol=1e-12)
        assert (hidden < 0).any(), "the ReLU had something to do"


def test_the_inner_layer_has_2048_numbers_and_both_maps_have_biases():
    model = built()
    for layer in (*model.encoder, *model.decoder):
        weights = layer.feed_forward.named_parameters()
        assert {name: tuple(weight.shape) for name, weight in weights} == {
            "inner.weight": (2048, 512),
            "inner.bias": (2048,),
            "outer.weight": (512, 2048),
            "outer.bias": (512,),
        }


def test_it_is_applied_to_each_position_alike(network):
    x = torch.randn(5, 8, dtype=torch.float64)
    apart = torch.cat([network(row[None]) for row in x])
    torch.testing.assert_close(network(x), apart, rtol=0, atol=1e-12)


def test_it_is_two_convolutions_of_kernel_size_1(network):
    x = torch.randn(5, 8, dtype=torch.float64)
    hidden = conv1d(x.T, network.inner.weight[:, :, None], network.inner.bias).relu()
    by_convolutions = conv1d(hidden, network.outer.weight[:, :, None], network.outer.bias).T
    torch.testing.assert_close(network(x), by_convolutions, rtol=0, atol=1e-12)
