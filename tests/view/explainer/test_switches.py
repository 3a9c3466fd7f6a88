"""What is switched off in the page is what PyTorch computes with the same part taken out."""

from dataclasses import replace

import pytest
import torch
from tests.view.explainer.opened import TOLERANCE, open_explainer, search, trace
from tests.view.explainer.samples import ODD, TEXT, make_translator
from tests.view.explainer.test_model import stored_model
from torch import nn

from transduce.packed import Packed
from transduce.paper.operations import AttentionMask

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SIZES = {"post": ODD, "pre": replace(ODD, norm="pre")}
PARTS = {"self": "self_attention", "cross": "cross_attention", "ff": "feed_forward"}
CASES = [
    *("source.position", "target.position", "mask", "encoder.1", "decoder.2", "encoder.2.self"),
    *("encoder.1.ff", "decoder.1.self", "decoder.2.cross", "decoder.1.ff", "encoder.1.self.1"),
    *("encoder.2.self.3", "decoder.1.self.2", "decoder.1.cross.1", "decoder.2.cross.3"),
    *("encoder.1.self.residual", "encoder.2.ff.residual", "decoder.1.self.residual"),
    *("decoder.2.cross.residual", "decoder.2.ff.residual"),
]


class Nothing(nn.Module):
    """Positions of zeros."""

    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def forward(self, positions, _longest):
        return torch.zeros(len(positions), self.d_model)


class WithoutResidual(nn.Module):
    """LayerNorm(Sublayer(x)), or Sublayer(LayerNorm(x))."""

    def __init__(self, residual):
        super().__init__()
        self.norm, self.is_pre = residual.norm, residual.is_pre

    def forward(self, x, sublayer):
        return sublayer(self.norm(x)) if self.is_pre else self.norm(sublayer(x))


def take_out(model, name):
    """Change a model as the page does when `name` is switched off."""
    parts = name.split(".")
    if name == "mask":
        for layer in model.decoder:
            layer.self_attention.mask = AttentionMask()
    elif parts[1] == "position":
        setattr(model, f"{parts[0]}_positions", Nothing(model.sizes.d_model))
    else:
        take_out_of_layer(model, getattr(model, parts[0])[int(parts[1]) - 1], parts[2:])


def take_out_of_layer(model, layer, parts):
    if len(parts) < 2:
        kinds = parts or [kind for kind in PARTS if hasattr(layer, PARTS[kind])]
        for kind in kinds:
            part = getattr(layer, PARTS[kind])
            last = part.outer if kind == "ff" else part.output
            nn.init.zeros_(last.weight)
            if last.bias is not None:
                nn.init.zeros_(last.bias)
    elif parts[1] == "residual":
        attribute = {"self": "add_self", "cross": "add_cross", "ff": "add_feed_forward"}[parts[0]]
        setattr(layer, attribute, WithoutResidual(getattr(layer, attribute)))
    else:
        first = (int(parts[1]) - 1) * model.sizes.d_v
        with torch.no_grad():
            weight = getattr(layer, PARTS[parts[0]]).output.weight
            weight[:, first : first + model.sizes.d_v] = 0


@torch.no_grad()
def compute_logits(model, source, output):
    memory = model.encode(Packed.from_sentences([source]))
    return model.logits(model.decode(Packed.from_sentences([[1, *output[:-1]]]), memory))


@pytest.mark.parametrize("norm", SIZES)
def test_each_part_that_is_off_changes_the_logits_as_in_pytorch(browser, norm):
    translator = make_translator(SIZES[norm])
    open_explainer(browser, translator, TEXT)
    (source,) = translator.task.encode_sources([TEXT])
    (output,) = translator.task.encode_targets(["a woman runs now"])
    whole = compute_logits(stored_model(translator), source, output)
    for name in CASES:
        model = stored_model(translator)
        take_out(model, name)
        expected = compute_logits(model, source, output)
        found = torch.tensor(trace(browser, source, output, [name])["logits"])
        assert float((found - expected).abs().max()) <= TOLERANCE, name
        assert float((whole - expected).abs().max()) > 100 * TOLERANCE, name


def test_without_the_mask_the_search_reads_later_places(browser):
    translator = make_translator(ODD)
    open_explainer(browser, translator, TEXT)
    model = stored_model(translator)
    take_out(model, "mask")
    (source,) = translator.task.encode_sources([TEXT])
    ((found),) = search(browser, [TEXT], ["mask"], beam=1)
    ids = list[int]()
    while ids[-1:] != [0] and len(ids) < len(found["ids"]):
        ids.append(int(compute_logits(model, source, [*ids, 0])[-1].argmax()))
    assert found["ids"][:-1] == ids[: len(found["ids"]) - 1]
