"""Products of training in bfloat16, compared with torch's own and with float32."""

import pytest
import torch
from tests.model.tiny import model_of
from torch.nn import functional

from transduce.fast import bfloat16 as bfloat16_linear
from transduce.fast import choose
from transduce.fast.bfloat16 import (
    Bfloat16LayerNorm,
    Bfloat16Linear,
    is_transposed_product_slow,
    multiply_transposed,
    sum_rows,
    transpose_by_product,
    weighted_sums,
)
from transduce.fast.onednn import has_onednn_bfloat16
from transduce.machine.device import Processor
from transduce.paper.model import Linear
from transduce.settings import Training

needs_instructions = pytest.mark.skipif(
    not has_onednn_bfloat16(), reason="skipped: no instructions for bfloat16 here"
)


def draw(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


@pytest.fixture
def transposes(monkeypatch):
    """Transpose the smaller factor of every product, and count how often."""
    copied = []

    def transpose(a):
        copied.append(a.shape[1])
        return transpose_by_product(a)

    monkeypatch.setattr(bfloat16_linear, "LEAST_TRANSPOSED", 1)
    monkeypatch.setattr(bfloat16_linear, "is_transposed_product_slow", lambda: True)
    monkeypatch.setattr(bfloat16_linear, "transpose_by_product", transpose)
    return copied


@needs_instructions
@pytest.mark.usefixtures("transposes")
@pytest.mark.parametrize("then", ["none", "relu"])
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize(("inputs", "outputs"), [(16, 16), (16, 64), (64, 16)])
def test_outputs_and_gradients_are_those_in_float32_up_to_rounding(inputs, outputs, has_bias, then):
    linear = Bfloat16Linear(inputs, outputs, bias=has_bias)
    linear.weight.data = draw(outputs, inputs).bfloat16()
    if linear.bias is not None:
        linear.bias.data = draw(outputs).bfloat16()
    x, d_out = draw(70, inputs).bfloat16().requires_grad_(), draw(70, outputs).bfloat16()
    found = linear.forward_relu(x) if then == "relu" else linear(x)
    parameters = [x, *linear.parameters()]
    gradients = torch.autograd.grad(found, parameters, d_out)

    exact = [p.detach().float().requires_grad_() for p in parameters]
    out = functional.linear(*exact)
    out = out.relu() if then == "relu" else out
    torch.testing.assert_close(found.float(), out, rtol=0.02, atol=0.02)
    # the ReLU is open where the rounded output is positive
    wanted = d_out.float() * (found > 0) if then == "relu" else d_out.float()
    expected = torch.autograd.grad(functional.linear(*exact), exact, wanted)
    for gradient, right in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient.float(), right, rtol=0.02, atol=0.05)


@needs_instructions
@pytest.mark.parametrize(
    ("m", "n", "copied"), [(8, 16, [8]), (16, 8, []), (32, 8, [8]), (8, 8, [])]
)
def test_the_smaller_factor_of_a_transposed_product_is_copied_where_that_pays(
    transposes, m, n, copied
):
    a, b = draw(50, m).bfloat16(), draw(50, n).bfloat16()
    torch.testing.assert_close(multiply_transposed(a, b), a.t() @ b, rtol=0.01, atol=0.01)
    assert transposes == copied


@needs_instructions
def test_a_transposed_copy_is_exact():
    a = draw(130, 48).bfloat16()
    assert torch.equal(transpose_by_product(a), a.t())


def test_sums_of_rows_are_those_in_float64_rounded_once():
    a, factors = draw(5_000, 24).abs().bfloat16(), draw(3, 5_000).bfloat16()
    torch.testing.assert_close(sum_rows(a).double(), a.double().sum(dim=0), rtol=1 / 256, atol=0)
    expected = factors.double() @ a.double()
    assert weighted_sums(factors, a).shape == (3, 24)
    torch.testing.assert_close(weighted_sums(factors, a).double(), expected, rtol=1 / 256, atol=0.1)


@pytest.mark.parametrize(
    ("features", "expected"), [({"avx512f", "amx_bf16"}, True), ({"avx512f"}, False)]
)
def test_whether_factors_are_copied_follows_from_the_processor(monkeypatch, features, expected):
    processor = Processor("GenuineIntel", frozenset(features))
    monkeypatch.setattr(bfloat16_linear, "read_processor", lambda: processor)
    is_transposed_product_slow.cache_clear()
    assert is_transposed_product_slow() is expected
    is_transposed_product_slow.cache_clear()


def test_without_gradients_a_product_is_torchs_own(monkeypatch):
    monkeypatch.setattr(bfloat16_linear, "OneDnnLinearFunction", None)
    linear, x = Bfloat16Linear(8, 3, bias=True).bfloat16(), draw(4, 8).bfloat16()
    for weight in linear.parameters():
        weight.data.fill_(1)
    with torch.no_grad():
        assert torch.equal(linear(x), functional.linear(x, linear.weight, linear.bias))
        assert torch.equal(
            linear.forward_relu(x), functional.linear(x, linear.weight, linear.bias).relu()
        )


@pytest.mark.parametrize(
    ("has_instructions", "expected"), [(True, Bfloat16Linear), (False, Linear)]
)
def test_linear_maps_are_swapped_where_the_processor_has_instructions(
    monkeypatch, has_instructions, expected
):
    monkeypatch.setattr(choose, "has_onednn_bfloat16", lambda: has_instructions)
    model = model_of()
    names = [name for name, _ in model.named_parameters()]
    choose.equip_for_training(model, Training(precision="bfloat16"))
    assert type(model.decoder[0].feed_forward.inner) is expected
    assert type(model.decoder[0].add_self.norm) is Bfloat16LayerNorm
    assert [name for name, _ in model.named_parameters()] == names
