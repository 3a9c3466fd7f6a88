import pytest
import torch
from tests.model.tiny import model_of, sentences, sizes

from transduce.machine.processor import Processor
from transduce.model.decoding import inference_weights as layout
from transduce.model.decoding.inference_weights import (
    PackedLinear,
    Packing,
    TransposedLinear,
    choose_packing,
    has_onednn_operators,
    pack_weights,
    prepare_for_inference,
    read_weights,
    transpose_weights,
)
from transduce.model.linear import Linear
from transduce.packed import Packed
from transduce.settings.precision import InferencePrecision


def logits_of(model):
    source, target = (
        Packed.from_sentences(sentences([5, 2])),
        Packed.from_sentences(sentences([3, 6], seed=4)),
    )
    return model.logits(model.decode(target, model.encode(source)))


@torch.no_grad()
def test_a_model_with_transposed_weights_is_the_same_model():
    model = model_of(sizes())
    before = logits_of(model)
    weights = {name: weight.clone() for name, weight in model.named_weights().items()}
    transpose_weights(model)
    assert all(torch.equal(weight, weights[name]) for name, weight in model.named_weights().items())
    torch.testing.assert_close(logits_of(model), before, rtol=0, atol=1e-12)
    assert isinstance(model.output_projection, TransposedLinear)
    assert model.output_projection.columns.is_contiguous()
    shared = model.output_projection.columns.data_ptr()
    assert shared == model.target.weight.data_ptr(), "a matrix that is shared stays so"


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "target", "none"])
@pytest.mark.parametrize(("kind", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 0.02)])
def test_a_model_with_packed_weights_is_the_same_model(tie, kind, near):
    model = model_of(sizes(tie_embeddings=tie)).to(kind)
    if not has_onednn_operators() or (
        kind == torch.bfloat16 and choose_packing(model.output.weight, INTEL) == Packing.NONE
    ):
        pytest.skip("this processor has no matrix instructions for bfloat16")
    before = logits_of(model)
    pack_weights(model, Packing.ALL)
    torch.testing.assert_close(logits_of(model), before, rtol=near, atol=near)
    assert isinstance(model.output_projection, PackedLinear), "the largest product of all"
    assert not [one for one in model.modules() if isinstance(one, torch.nn.Linear | Linear)]


@torch.no_grad()
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", [Linear, TransposedLinear, PackedLinear])
def test_the_fused_products_equal_the_product_and_what_follows_it(bias, kind):
    linear = Linear(5, 7, bias=bias)
    torch.manual_seed(3)
    for weight in linear.parameters():
        weight.normal_()
    x, residual = torch.randn(4, 5), torch.randn(4, 7)
    kept = residual.clone()
    plain = torch.nn.functional.linear(x, linear.weight, linear.bias)
    operator = linear if kind is Linear else kind(linear)
    for found, expected in (
        (operator(x), plain),
        (operator.relu(x), plain.clamp(min=0)),
        (operator.add(x, residual), residual + plain),
    ):
        torch.testing.assert_close(found, expected)
    assert torch.equal(residual, kept), "it is read once more, by the caller"


INTEL = Processor("GenuineIntel", frozenset({"avx2", "avx512f", "amx_tile"}))
ZEN3 = Processor("AuthenticAMD", frozenset({"avx2"}))
ZEN5 = Processor("AuthenticAMD", frozenset({"avx2", "avx512f"}))
UNKNOWN = Processor()


@pytest.mark.parametrize(
    ("processor", "kind", "expected"),
    [
        (INTEL, torch.float32, Packing.NONE),
        (ZEN3, torch.float32, Packing.LARGE),
        (ZEN5, torch.float32, Packing.ALL),
        (UNKNOWN, torch.float32, Packing.NONE),
        (ZEN5, torch.float64, Packing.NONE),
        (INTEL, torch.bfloat16, Packing.ALL),
        (ZEN5, torch.bfloat16, Packing.ALL),
    ],
)
def test_the_weight_layout_follows_from_processor_and_precision(
    monkeypatch, processor, kind, expected
):
    monkeypatch.setattr(layout, "find_onednn_operator", lambda _: lambda: True)
    assert choose_packing(torch.zeros(2, 2, dtype=kind), processor) == expected
    on_another_device = torch.zeros(2, 2, dtype=kind, device="meta")
    assert choose_packing(on_another_device, processor) == Packing.NONE


@pytest.mark.parametrize("gone", [layout.PACK, layout.LINEAR, f"{layout.LINEAR}.binary"])
def test_nothing_is_packed_where_torch_lacks_an_operator(monkeypatch, gone):
    operators = {gone: None}
    monkeypatch.setattr(
        layout, "find_onednn_operator", lambda name: operators.get(name, lambda: True)
    )
    for kind in (torch.float32, torch.bfloat16):
        assert choose_packing(torch.zeros(2, 2, dtype=kind), ZEN5) == Packing.NONE


def test_bfloat16_is_packed_only_where_the_processor_multiplies_it(monkeypatch):
    monkeypatch.setattr(layout, "find_onednn_operator", lambda _: lambda: False)
    assert choose_packing(torch.zeros(2, 2, dtype=torch.bfloat16), ZEN5) == Packing.NONE


@torch.no_grad()
def test_small_matrices_are_transposed_and_large_ones_packed(monkeypatch):
    if not has_onednn_operators():
        pytest.skip("this torch packs nothing")
    monkeypatch.setattr(layout, "LARGE_MATRIX", 12 * 8)
    monkeypatch.setattr(layout, "read_processor", lambda: ZEN3)
    model = model_of(sizes())
    before = logits_of(model)
    prepare_for_inference(model, InferencePrecision.FLOAT32)
    torch.testing.assert_close(logits_of(model), before.float(), rtol=1e-5, atol=1e-5)
    layer = model.decoder[0]
    assert isinstance(layer.feed_forward.inner, PackedLinear)
    assert isinstance(layer.feed_forward.outer, TransposedLinear), "more inputs than outputs"
    assert isinstance(layer.self_attention.output, TransposedLinear)


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "none"])
def test_the_weights_of_a_prepared_model_can_be_read(tie):
    model = model_of(sizes(tie_embeddings=tie)).float()
    before = {name: weight.clone() for name, weight in model.named_weights().items()}
    pack_weights(model, Packing.ALL)
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

    def multiply(x, blocks, bias, then, *_):
        out = torch.nn.functional.linear(x, blocks, bias)
        return out.relu() if then == "relu" else out

    operators = {layout.PACK: pack, layout.LINEAR: multiply}
    monkeypatch.setattr(layout, "find_onednn_operator", operators.get)
    model = model_of(sizes(tie_embeddings=tie))
    before = logits_of(model)
    pack_weights(model, Packing.ALL)
    assert torch.equal(logits_of(model), before)
    assert len(packed) == 2 * 4 + 2 * 7 + 1, "two layers a stack, and the map before the softmax"
    assert not [one for one in model.modules() if isinstance(one, Linear)]
