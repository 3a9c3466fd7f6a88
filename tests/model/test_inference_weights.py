import pytest
import torch
from tests.model.tiny import model_of, sentences, sizes

from transduce.model.decoding import inference_weights as layout
from transduce.model.decoding.inference_weights import (
    PackedLinear,
    pack_weights,
    prepare_for_inference,
    should_pack_weights,
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
    assert model.output.weight.t().is_contiguous()
    assert model.target.weight is model.output.weight, "a matrix that is shared stays so"


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "target", "none"])
def test_a_model_with_packed_weights_is_the_same_model(tie):
    model = model_of(sizes(tie_embeddings=tie)).to(torch.bfloat16)
    if not should_pack_weights(model.output.weight):
        pytest.skip("this processor has no matrix instructions for bfloat16")
    before = logits_of(model)
    pack_weights(model)
    torch.testing.assert_close(logits_of(model), before, rtol=0.02, atol=0.02)
    assert isinstance(model.output_projection, PackedLinear), "the largest product of all"
    assert not [one for one in model.modules() if isinstance(one, torch.nn.Linear | Linear)]


@pytest.mark.parametrize(
    ("precision", "device", "gone", "able", "layout_name"),
    [
        (InferencePrecision.FLOAT32, "cpu", "", True, "transposed"),
        (InferencePrecision.BFLOAT16, "cpu", "", True, "packed"),
        (InferencePrecision.BFLOAT16, "cpu", "", False, "transposed"),
        (InferencePrecision.BFLOAT16, "cpu", layout.LINEAR, True, "transposed"),
        (InferencePrecision.BFLOAT16, "meta", "", True, "transposed"),
    ],
)
def test_weights_are_packed_in_bfloat16_where_torch_can(
    monkeypatch, precision, device, gone, able, layout_name
):
    chosen = []
    monkeypatch.setattr(layout, "pack_weights", lambda _: chosen.append("packed"))
    monkeypatch.setattr(layout, "transpose_weights", lambda _: chosen.append("transposed"))
    monkeypatch.setattr(
        layout, "find_onednn_operator", lambda name: None if name == gone else lambda: able
    )
    prepare_for_inference(model_of(sizes()).to(device), precision)
    assert chosen == [layout_name]


@torch.no_grad()
@pytest.mark.parametrize("tie", ["all", "target", "none"])
def test_every_product_with_a_weight_matrix_can_be_replaced(monkeypatch, tie):
    """Without the processor's instructions: stand-ins that count which matrices are packed."""
    packed = []

    def pack(weight):
        packed.append(weight)
        return weight

    def multiply(x, blocks, bias, *_):
        return torch.nn.functional.linear(x, blocks, bias)

    operators = {layout.PACK: pack, layout.LINEAR: multiply}
    monkeypatch.setattr(layout, "find_onednn_operator", operators.get)
    model = model_of(sizes(tie_embeddings=tie))
    before = logits_of(model)
    pack_weights(model)
    assert torch.equal(logits_of(model), before)
    assert len(packed) == 2 * 4 + 2 * 7 + 1, "two layers a stack, and the map before the softmax"
    assert not [one for one in model.modules() if isinstance(one, Linear)]
