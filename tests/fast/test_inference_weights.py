import weakref

import pytest
import torch
from tests.model.tiny import model_of, sentences, sizes
from torch import nn

from transduce.fast import inference_weights, onednn
from transduce.fast.inference_weights import (
    MklLinear,
    OneDnnLinear,
    TransposedLinear,
    choose_layout,
    has_mkl_packing,
    prepare_for_inference,
    replace_linear_modules,
)
from transduce.fast.onednn import has_onednn_bfloat16, has_onednn_operators
from transduce.machine.device import Processor
from transduce.packed import Packed
from transduce.paper.model import Linear
from transduce.settings.search import InferencePrecision
from transduce.view.explainer.weights import read_weights

LAYOUTS = TransposedLinear, OneDnnLinear, MklLinear


def convert(model, layout):
    """Replace every linear map of a model by one with this layout of the weight."""
    replace_linear_modules(model, lambda linear, _: layout(linear))


def logits_of(model):
    source, target = (
        Packed.from_sentences(sentences([5, 2])),
        Packed.from_sentences(sentences([3, 6], seed=4)),
    )
    return model.logits(model.decode(target, model.encode(source)))


def test_a_replaced_weight_is_freed_before_the_next_one_is_built():
    parent = nn.ModuleList(Linear(4, 4, bias=False) for _ in range(3))
    old, alive = [weakref.ref(linear) for linear in parent], []

    def build(*_):
        alive.append(sum(one() is not None for one in old))
        return nn.Identity()

    replace_linear_modules(parent, build)
    assert alive == [3, 2, 1]


@torch.no_grad()
def test_a_model_with_transposed_weights_is_the_same_model():
    model = model_of(sizes())
    before = logits_of(model)
    weights = {name: weight.clone() for name, weight in model.named_weights().items()}
    convert(model, TransposedLinear)
    assert all(torch.equal(weight, weights[name]) for name, weight in model.named_weights().items())
    torch.testing.assert_close(logits_of(model), before, rtol=0, atol=1e-12)
    assert isinstance(model.output_projection, TransposedLinear)
    assert model.output_projection.columns.is_contiguous()
    shared = model.output_projection.columns.data_ptr()
    assert shared == model.target.weight.data_ptr(), "a matrix that is shared stays so"


def require_layout(layout, kind=torch.float32):
    """Skip a test where this torch or processor lacks the kernels of a layout."""
    if layout == OneDnnLinear and not has_onednn_operators():
        pytest.skip("this torch has no blocks for oneDNN")
    if layout == OneDnnLinear and kind == torch.bfloat16 and not has_onednn_bfloat16():
        pytest.skip("this processor has no matrix instructions for bfloat16")
    if layout == MklLinear and not has_mkl_packing():
        pytest.skip("this torch packs nothing for MKL")


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "target", "none"])
@pytest.mark.parametrize(
    ("layout", "kind", "near"),
    [
        (OneDnnLinear, torch.float32, 1e-5),
        (OneDnnLinear, torch.bfloat16, 0.02),
        (MklLinear, torch.float32, 1e-5),
    ],
)
def test_a_model_with_packed_weights_is_the_same_model(tie, layout, kind, near):
    require_layout(layout, kind)
    model = model_of(sizes(tie_embeddings=tie)).to(kind)
    before = logits_of(model)
    convert(model, layout)
    torch.testing.assert_close(logits_of(model), before, rtol=near, atol=near)
    assert isinstance(model.output_projection, layout), "the largest product"
    assert not [one for one in model.modules() if isinstance(one, torch.nn.Linear | Linear)]


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("layout", [None, *LAYOUTS])
def test_the_fused_products_equal_the_product_and_what_follows_it(bias, layout):
    require_layout(layout)
    linear = Linear(5, 7, bias=bias)
    torch.manual_seed(3)
    for weight in linear.parameters():
        weight.normal_()
    x, residual = torch.randn(4, 5), torch.randn(4, 7)
    kept = residual.clone()
    plain = torch.nn.functional.linear(x, linear.weight, linear.bias)
    operator = layout(linear) if layout else linear
    for found, expected in (
        (operator(x), plain),
        (operator.forward_relu(x), plain.clamp(min=0)),
        (operator.forward_add(x, residual), residual + plain),
    ):
        torch.testing.assert_close(found, expected)
    assert torch.equal(residual, kept), "it is read once more, by the caller"


@torch.no_grad()
@pytest.mark.parametrize("rows", [0, 1, 3, 255, 256, 700])
@pytest.mark.parametrize(("packing", "multiplying"), [(1, 1), (1, 2), (2, 1)])
def test_a_matrix_that_mkl_packed_takes_any_number_of_rows_and_threads(rows, packing, multiplying):
    require_layout(MklLinear)
    threads = torch.get_num_threads()
    torch.manual_seed(5)
    weight, bias, x = torch.randn(500, 300), torch.randn(500), torch.randn(300, rows).t()
    linear = Linear.from_weight(torch.nn.Parameter(weight), torch.nn.Parameter(bias))
    expected = torch.nn.functional.linear(x.double(), weight.double(), bias.double())
    try:
        torch.set_num_threads(packing)
        packed = MklLinear(linear)
        torch.set_num_threads(multiplying)
        found = packed(x)
    finally:
        torch.set_num_threads(threads)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


INTEL = Processor("GenuineIntel", frozenset({"avx2", "avx512f"}))
OLD_INTEL = Processor("GenuineIntel", frozenset({"avx2"}))
ZEN3 = Processor("AuthenticAMD", frozenset({"avx2"}))
ZEN5 = Processor("AuthenticAMD", frozenset({"avx2", "avx512f"}))
UNKNOWN = Processor()
SMALL, LARGE, TALL = (512, 128), (2048, 512), (512, 2048)  # outputs, inputs
COLUMNS, ONEDNN, MKL = LAYOUTS


def set_operators(monkeypatch, find):
    """Let `find(name)` answer for torch's private operators."""
    uncached = has_onednn_bfloat16.__wrapped__
    monkeypatch.setattr(inference_weights, "has_onednn_bfloat16", uncached)
    for module in (onednn, inference_weights):
        monkeypatch.setattr(module, "find_operator", find)


def operators_except(*missing):
    """Return a stand-in for `find_operator`: every operator but the missing ones answers True."""
    return lambda name: None if name in missing else lambda *_: True


@pytest.fixture
def all_operators(monkeypatch):
    """Pretend that torch has every operator and the processor every instruction."""
    set_operators(monkeypatch, operators_except())
    monkeypatch.setattr(inference_weights, "has_mkl_packing", lambda: True)


@pytest.mark.usefixtures("all_operators")
@pytest.mark.parametrize(
    ("processor", "kind", "small", "large", "tall"),
    [
        (INTEL, torch.float32, COLUMNS, MKL, MKL),
        (OLD_INTEL, torch.float32, COLUMNS, COLUMNS, COLUMNS),
        (ZEN3, torch.float32, COLUMNS, ONEDNN, COLUMNS),
        (ZEN5, torch.float32, COLUMNS, ONEDNN, ONEDNN),
        (UNKNOWN, torch.float32, COLUMNS, COLUMNS, COLUMNS),
        (ZEN5, torch.float64, COLUMNS, COLUMNS, COLUMNS),
        (INTEL, torch.bfloat16, ONEDNN, ONEDNN, ONEDNN),
        (ZEN5, torch.bfloat16, ONEDNN, ONEDNN, ONEDNN),
    ],
)
def test_the_weight_layout_follows_from_processor_precision_and_size(
    processor, kind, small, large, tall
):
    for shape, expected in ((SMALL, small), (LARGE, large), (TALL, tall)):
        assert choose_layout(torch.empty(shape, dtype=kind), processor) == expected
        on_another_device = torch.empty(shape, dtype=kind, device="meta")
        assert choose_layout(on_another_device, processor) == COLUMNS


@pytest.mark.parametrize(
    ("gone", "processor", "kind"),
    [
        *(
            (gone, ZEN5, kind)
            for gone in (onednn.BLOCK, onednn.LINEAR, onednn.LINEAR_ADD)
            for kind in (torch.float32, torch.bfloat16)
        ),
        (inference_weights.MKL_PACK, INTEL, torch.float32),
        (inference_weights.MKL_LINEAR, INTEL, torch.float32),
    ],
)
def test_nothing_is_packed_where_torch_lacks_an_operator(monkeypatch, gone, processor, kind):
    has_mkl_packing.cache_clear()
    set_operators(monkeypatch, operators_except(gone))
    assert choose_layout(torch.empty(LARGE, dtype=kind), processor) == COLUMNS
    has_mkl_packing.cache_clear()


def test_nothing_is_packed_for_mkl_where_another_number_of_rows_is_multiplied_wrongly(monkeypatch):
    """A torch that ignored what was packed would multiply with the matrix that holds no numbers."""
    has_mkl_packing.cache_clear()
    operators = {
        inference_weights.MKL_PACK: lambda weight, _: weight,
        inference_weights.MKL_LINEAR: lambda *_: None,
    }
    monkeypatch.setattr(inference_weights, "find_operator", operators.get)
    ignore = lambda x, _packed, shape, _bias: x @ shape.t()  # noqa: E731 - a stand-in
    monkeypatch.setattr(inference_weights, "multiply_by_mkl", ignore)
    assert not has_mkl_packing()
    has_mkl_packing.cache_clear()


def test_bfloat16_is_packed_only_where_the_processor_multiplies_it(monkeypatch):
    monkeypatch.setattr(inference_weights, "has_onednn_bfloat16", lambda: False)
    assert choose_layout(torch.empty(LARGE, dtype=torch.bfloat16), ZEN5) == COLUMNS


@torch.no_grad()
def test_small_matrices_are_transposed_and_large_ones_packed(monkeypatch):
    require_layout(OneDnnLinear)
    monkeypatch.setattr(inference_weights, "LARGE_FOR_ONEDNN", 12 * 8)
    monkeypatch.setattr(inference_weights, "read_processor", lambda: ZEN3)
    model = model_of(sizes())
    before = logits_of(model)
    prepare_for_inference(model, InferencePrecision.FLOAT32)
    torch.testing.assert_close(logits_of(model), before.float(), rtol=1e-5, atol=1e-5)
    layer = model.decoder[0]
    assert isinstance(layer.feed_forward.inner, OneDnnLinear)
    assert isinstance(layer.feed_forward.outer, TransposedLinear), "more inputs than outputs"
    assert isinstance(layer.self_attention.output, TransposedLinear)


@torch.no_grad()
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("tie", ["all", "none"])
def test_the_weights_of_a_prepared_model_can_be_read(tie, layout):
    require_layout(layout)
    model = model_of(sizes(tie_embeddings=tie)).float()
    before = {name: weight.clone() for name, weight in model.named_weights().items()}
    convert(model, layout)
    after = read_weights(model)
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], weight) for name, weight in before.items())


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "target", "none"])
def test_every_product_with_a_weight_matrix_can_be_replaced(monkeypatch, tie):
    """Without the processor's instructions: stand-ins that count which matrices are packed."""
    packed = []

    def pack(weight):
        packed.append(weight)
        return weight

    def multiply(x, blocks, bias, then):
        out = torch.nn.functional.linear(x, blocks, bias)
        return out.relu() if then == "relu" else out

    monkeypatch.setattr(inference_weights, "find_operator", {onednn.BLOCK: pack}.get)
    monkeypatch.setattr(inference_weights, "multiply_by_onednn", multiply)
    model = model_of(sizes(tie_embeddings=tie))
    before = logits_of(model)
    convert(model, OneDnnLinear)
    assert torch.equal(logits_of(model), before)
    assert len(packed) == 2 * 4 + 2 * 7 + 1, "two layers a stack, and the map before the softmax"
    assert not [one for one in model.modules() if isinstance(one, Linear)]
