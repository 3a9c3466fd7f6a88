"""First weights of Table 1's other layers."""

import math
from typing import Any

import pytest
import torch
from tests.model.tiny import packed, states_of

from transduce.mixing import RecurrentLayer, find_mixing
from transduce.paper.model import build_transformer
from transduce.settings import Architecture
from transduce.settings.architecture import MIXINGS

WIDE: dict[str, Any] = {"layers": 1, "d_model": 64, "d_ff": 160, "heads": 2, "d_k": 16, "d_v": 48}


def build(sizes):
    return build_transformer(sizes, 100, 100, 1, find_mixing(sizes))


def weights_of(mixing):
    weights = build(Architecture(mixing=mixing, **WIDE)).named_weights()
    return {name.removeprefix("encoder.0.self_attention."): w for name, w in weights.items()}


def uniform_within(matrix, bound):
    assert matrix.abs().max() <= bound
    assert matrix.abs().max() > 0.98 * bound
    assert matrix.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.1)


@pytest.mark.parametrize("mixing", ["convolution", "dilated"])
def test_a_convolution_is_one_matrix_over_its_neighbours_scaled_by_depth(mixing):
    bound = math.sqrt(6 / (3 * 64 + 64)) / math.sqrt(2)
    uniform_within(weights_of(mixing)["projection.output.weight"], bound)


def test_depthwise_weights_keep_sizes_and_the_matrix_is_scaled_by_depth():
    weights = weights_of("separable")
    uniform_within(weights["projection.depthwise"], 1.0)
    uniform_within(weights["projection.output.weight"], math.sqrt(6 / 128) / math.sqrt(2))


@pytest.mark.parametrize("end", ["", "_reverse"])
def test_each_gate_of_an_lstm_begins_for_itself_and_the_forget_gates_open(end):
    weights = weights_of("recurrent")
    for name, bound in (("ih", math.sqrt(6 / 96)), ("hh", math.sqrt(6 / 64))):
        for gate in weights[f"lstm.weight_{name}_l0{end}"].split(32):
            uniform_within(gate, bound)
    gates = weights[f"lstm.bias_ih_l0{end}"].split(32)
    assert [gate.unique().tolist() for gate in gates] == [[0.0], [1.0], [0.0], [0.0]]
    assert not weights[f"lstm.bias_hh_l0{end}"].any()


def test_the_other_sub_layers_of_a_recurrent_stack_are_scaled_as_elsewhere():
    ends = ("feed_forward.outer.weight", "cross_attention.output.weight")
    found = weights_of("recurrent"), weights_of("self-attention")
    for end in ends:
        first, second = (
            next(w for name, w in weights.items() if name.endswith(f"decoder.0.{end}"))
            for weights in found
        )
        assert first.abs().max().item() == pytest.approx(second.abs().max().item(), rel=0.01)


def test_the_states_of_a_new_lstm_are_about_as_small_as_what_is_scaled():
    model = build(Architecture(mixing="recurrent", **WIDE))
    measured = []
    for module in model.modules():
        if isinstance(module, RecurrentLayer):
            module.register_forward_hook(lambda *parts: measured.append(parts[2].square().mean()))
    states_of(model, packed((20, 9), symbols=100), packed((20, 9), symbols=100))
    for mean, sub_layers in zip(measured, (2, 3), strict=True):
        assert 0.3 < mean.sqrt().item() * math.sqrt(sub_layers) < 1


def gradient_norm(weight):
    return weight.grad.norm().item()


@pytest.mark.parametrize("mixing", MIXINGS)
def test_the_gradients_of_a_new_model_of_six_layers_are_level(mixing):
    sizes = Architecture(mixing=mixing, **(WIDE | {"layers": 6, "dropout": 0.0}))
    model = build(sizes)
    lengths = (20, 9, 30)
    _, states = states_of(model, packed(lengths, symbols=100), packed(lengths, symbols=100))
    direction = torch.randn(states.shape, generator=torch.Generator().manual_seed(1))
    (states * direction).sum().backward()
    for stack in (model.encoder, model.decoder):
        norms = [gradient_norm(layer.feed_forward.outer.weight) for layer in stack]
        assert max(norms) < 3 * min(norms), norms
