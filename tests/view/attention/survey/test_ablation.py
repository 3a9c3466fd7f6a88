"""A head that is switched off: equal to one whose part of the output matrix W^O is 0."""

import copy
from dataclasses import replace

import pytest
import torch
from tests.inference.random_models import LINES, SIZES, WORDS

from transduce.packed import Packed
from transduce.paper.model import build_transformer
from transduce.paper.operations import PLAIN
from transduce.view.attention.survey.survey import decode_without_head
from transduce.vocabulary import BEGIN, END

TEXTS = [[*WORDS.encode(line), END] for line in LINES]


@torch.no_grad()
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize(("layer", "head"), [(1, 1), (2, 3)])
def test_it_is_the_model_with_zeros_in_the_output_matrix(kind, layer, head):
    sizes = replace(SIZES, layers=2, heads=3)
    model = build_transformer(sizes, len(WORDS), len(WORDS), seed=3).eval()
    source, inputs = Packed.from_sentences(TEXTS), Packed.from_sentences(TEXTS[::-1])
    inputs = inputs.shift_right(BEGIN)
    memory = model.encode(source)
    states = decode_without_head(model, source, inputs, memory, (kind, layer, head))
    twin = copy.deepcopy(model)
    stack = twin.encoder if kind == "encoder" else twin.decoder
    name = "cross_attention" if kind == "cross" else "self_attention"
    matrix = getattr(stack[layer - 1], name).output.weight
    matrix[:, (head - 1) * sizes.d_v : head * sizes.d_v] = 0
    torch.testing.assert_close(states, twin.decode(inputs, twin.encode(source)))
    whole = model.decode(inputs, memory)
    assert (states - whole).abs().max() > 1e-4
    assert model.operations is PLAIN, "the model is as before"
