"""Products in 8 bits, compared with sums of whole numbers and with products in float32."""

import copy
import pickle

import pytest
import torch
from tests.fast.test_inference_weights import logits_of
from tests.model.tiny import model_of, sizes

from transduce.errors import InputError
from transduce.fast import int8
from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.inference_weights import prepare_for_inference
from transduce.fast.int8 import (
    FEW_ROWS,
    LEVELS,
    NEVER,
    POSITIVE,
    SAFE_LEVELS,
    SIGNED,
    FbgemmMatrix,
    Int8Linear,
    OneDnnMatrix,
    count_rows_for_onednn,
    do_sums_saturate,
    has_equal_onednn_kernel,
    multiply_integers,
    round_rows_to_int8,
    unsupported_int8_reason,
)
from transduce.inference.load import describe_precision
from transduce.machine.device import Processor
from transduce.paper.model import Linear
from transduce.settings.search import InferencePrecision

pytestmark = [
    pytest.mark.skipif(bool(unsupported_int8_reason()), reason=unsupported_int8_reason()),
    pytest.mark.filterwarnings("error"),
]

SHAPES = [(5, 7), (64, 64), (256, 1000), (1024, 256)]  # inputs, outputs; the third is wide


def linear_of(inputs, outputs, *, bias=True, seed=1):
    linear = Linear(inputs, outputs, bias=bias)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in linear.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
    return linear


def multiply_whole_numbers(x, linear, levels, *, follows_relu=False):
    """The same product by definition, in float64: rounded rows, exact sums."""
    x, weight = x.double(), linear.weight.double()
    largest = x.abs().amax(1, keepdim=True).clamp(min=1e-30)  # for rows of zeros
    scale = weight.abs().amax(1) / levels
    inputs = 255 if follows_relu else LEVELS
    left = (x / largest * inputs).round()
    right = (weight / scale[:, None]).round()
    return (left @ right.t()) * scale * largest / inputs + (
        linear.bias if linear.bias is not None else 0
    )


@torch.no_grad()
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [1, 4, 70])
@pytest.mark.parametrize("follows_relu", [False, True])
def test_sums_are_exact_for_any_shape(shape, rows, follows_relu):
    linear, x = linear_of(*shape), torch.randn(rows, shape[0])
    x = x.relu_() if follows_relu else x
    levels = SAFE_LEVELS if do_sums_saturate() else LEVELS
    expected = multiply_whole_numbers(x, linear, levels, follows_relu=follows_relu)
    found = Int8Linear(linear, follows_relu=follows_relu)(x).double()
    assert (found - expected).norm() < 2e-3 * expected.norm(), "but for halves, rounded in float32"


def test_a_model_that_is_packed_says_so_when_it_is_pickled_or_copied():
    packed = Int8Linear(linear_of(64, 16))
    for copy_it in (pickle.dumps, copy.deepcopy):
        with pytest.raises(InputError, match="packed for this machine cannot be copied or pickled"):
            copy_it(packed)


@torch.no_grad()
def test_the_largest_possible_sums_are_not_cut():
    linear = linear_of(64, 16, bias=False)
    linear.weight.fill_(1.0)
    found = Int8Linear(linear)(torch.ones(4, 64))
    torch.testing.assert_close(found, torch.full((4, 16), 64.0), rtol=1e-5, atol=0)


@torch.no_grad()
def test_weights_of_eight_bits_would_be_cut_where_sums_saturate():
    if not do_sums_saturate():
        pytest.skip("this processor sums in 32 bits")
    product = FbgemmMatrix(round_rows_to_int8(torch.ones(16, 64), LEVELS)).multiply(
        torch.ones(4, 64)
    )
    assert product.max() < 33


@torch.no_grad()
@pytest.mark.parametrize("shape", [*SHAPES, (1, 3), (2048, 512)])
@pytest.mark.parametrize("rows", [1, MANY_ROWS, 257])
@pytest.mark.parametrize("levels", [SIGNED, POSITIVE])
def test_the_kernels_of_both_libraries_give_the_same_bits(shape, rows, levels):
    if not has_equal_onednn_kernel():
        pytest.skip("without VNNI only one kernel is used")
    rounded = round_rows_to_int8(linear_of(*shape).weight.detach() * 100, LEVELS)
    x = torch.rand(rows, shape[0]) if levels == POSITIVE else torch.rand(rows, shape[0]) * 2 - 1
    found, expected = (
        matrix(rounded, levels).multiply(x) for matrix in (OneDnnMatrix, FbgemmMatrix)
    )
    assert torch.equal(found, expected)


def multiply_rounding_once(self, x):
    """A product whose inputs are scaled and shifted exactly, and then rounded, as in torch 2.11."""
    exact = x.double() * float(torch.tensor(1.0) / torch.tensor(1 / self.inputs.levels))
    integers = (exact + self.inputs.zero_point).round().clamp(0, 255).to(torch.uint8)
    zero_point = self.inputs.zero_point
    return multiply_integers(integers, zero_point, self.packed, self.scales, self.zeros)


@torch.no_grad()
def test_a_kernel_that_rounds_near_the_middle_of_two_levels_otherwise_is_not_used(monkeypatch):
    if not has_equal_onednn_kernel():
        pytest.skip("only one kernel is used")
    monkeypatch.setattr(OneDnnMatrix, "multiply", multiply_rounding_once)
    assert not has_equal_onednn_kernel.__wrapped__()


VNNI = Processor("GenuineIntel", frozenset({"avx512f", "avx512_vnni"}))
AMX = Processor("GenuineIntel", frozenset({"avx512f", "avx512_vnni", "amx_tile", "amx_int8"}))


@pytest.mark.parametrize(
    ("processor", "small", "wide", "tall"),
    [(VNNI, NEVER, MANY_ROWS, NEVER), (AMX, MANY_ROWS, FEW_ROWS, FEW_ROWS)],
)
def test_the_rows_from_which_the_other_kernel_multiplies_follow_from_the_processor(
    monkeypatch, processor, small, wide, tall
):
    monkeypatch.setattr(int8, "has_equal_onednn_kernel", lambda: True)
    found = [count_rows_for_onednn(*s, processor) for s in ((768, 256), (2048, 512), (512, 2048))]
    assert found == [small, wide, tall]
    monkeypatch.setattr(int8, "has_equal_onednn_kernel", lambda: False)
    assert count_rows_for_onednn(2048, 512, processor) == NEVER, "its bits would be others"


def noting(matrix, used):
    """Return the product of a matrix that notes the matrix' class."""
    multiply = matrix.multiply

    def noted(x):
        used.append(type(matrix))
        return multiply(x)

    return noted


@torch.no_grad()
def test_a_matrix_is_multiplied_by_the_kernel_for_its_number_of_rows(monkeypatch):
    if not has_equal_onednn_kernel():
        pytest.skip("without VNNI only one kernel is used")
    monkeypatch.setattr(int8, "read_processor", lambda: VNNI)
    wide, tall = Int8Linear(linear_of(64, 4200)), Int8Linear(linear_of(4200, 64))
    assert tall.for_many_rows is tall.for_few_rows, "and its matrix is stored once"
    for rows, kernel in ((1, FbgemmMatrix), (63, FbgemmMatrix), (64, OneDnnMatrix)):
        used: list[type] = []
        for matrix in (wide.for_few_rows, wide.for_many_rows):
            monkeypatch.setattr(matrix, "multiply", noting(matrix, used))
        wide(torch.randn(rows, 64))
        assert used[:1] == [kernel]
        monkeypatch.undo()


@torch.no_grad()
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_has_the_same_product_alone_and_in_company(shape):
    linear, x = Int8Linear(linear_of(*shape)), torch.randn(70, shape[0])
    assert len(x) > MANY_ROWS
    x[3] *= 1000
    residual = torch.randn(70, shape[1])
    together = linear(x), linear.forward_relu(x), linear.forward_add(x, residual)
    for row in (0, 3, 69):
        one, its = x[row : row + 1], residual[row : row + 1]
        alone = linear(one), linear.forward_relu(one), linear.forward_add(one, its)
        assert all(torch.equal(a[0], b[row]) for a, b in zip(alone, together, strict=True))


@torch.no_grad()
def test_what_a_relu_leaves_is_rounded_twice_as_finely():
    x = torch.randn(70, 256, generator=torch.Generator().manual_seed(3)).relu_()
    errors = []
    for follows_relu in (True, False):
        linear = linear_of(256, 64)
        linear.weight.copy_(torch.eye(64, 256))  # so that only the rounding of x is left
        errors.append((Int8Linear(linear, follows_relu=follows_relu)(x) - linear(x)).norm())
    assert errors[0] < 0.6 * errors[1]


def test_matrices_after_a_relu_know_it_and_those_after_swish_do_not():
    for activation, expected in (("relu", True), ("swish", False)):
        model = model_of(sizes(activation=activation))
        prepare_for_inference(model, InferencePrecision.INT8)
        layers = [*model.encoder, *model.decoder]
        assert {layer.feed_forward.outer.follows_relu for layer in layers} == {expected}
        assert not layers[0].feed_forward.inner.follows_relu


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
def test_the_fused_products_equal_the_product_and_what_follows_it(bias):
    linear = Int8Linear(linear_of(64, 48, bias=bias))
    x, residual = torch.randn(6, 64), torch.randn(6, 48)
    kept = x.clone(), residual.clone()
    torch.testing.assert_close(linear.forward_relu(x), linear(x).clamp(min=0))
    torch.testing.assert_close(linear.forward_add(x, residual), residual + linear(x))
    assert torch.equal(x, kept[0])
    assert torch.equal(residual, kept[1])


@torch.no_grad()
def test_rows_of_zeros_give_the_bias_and_rows_of_nan_stay_nan():
    linear = linear_of(64, 16)
    linear.weight[2] = 0
    x = torch.stack([torch.zeros(64), torch.full((64,), torch.nan), torch.ones(64)])
    found = Int8Linear(linear)(x)
    assert torch.equal(found[0], linear.bias)
    assert found[1].isnan().all()
    assert found[2, 2] == linear.bias[2]


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "none"])
def test_a_model_in_int8_is_nearly_the_same_model(tie):
    model = model_of(sizes(tie_embeddings=tie))
    before, weight = logits_of(model).float(), model.target.weight.clone()
    assert describe_precision(model.float()) == "float32"
    prepare_for_inference(model, InferencePrecision.INT8)
    after = logits_of(model)
    assert 0 < (after - before).norm() < 0.1 * before.norm()
    assert describe_precision(model) == "int8"
    assert torch.equal(model.target.weight, weight.float()), "embeddings stay as they are"
    assert not [one for one in model.modules() if isinstance(one, Linear)]
