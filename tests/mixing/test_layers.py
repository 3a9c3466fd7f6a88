"""The other layers of Table 1 in self-attention's place."""

import copy
import math
from typing import Any

import pytest
import torch
from tests.model.tiny import model_of, packed, sentences, sizes, states_of
from tests.reference.mixing import mixing_by_hand
from torch import nn

from transduce.mixing import SentenceLayout, build_layer, find_mixing
from transduce.packed import Packed
from transduce.paper.model import build_transformer
from transduce.settings.architecture import MIXINGS
from transduce.settings.counts import count_parameters

OTHERS = MIXINGS[1:]
others = pytest.mark.parametrize("mixing", OTHERS)
stacks = pytest.mark.parametrize("causal", [False, True])
LENGTHS = (5, 1, 12, 3)


def layer(mixing, *, causal, index=0, kernel_size=3):
    """One mixing in float64, every weight and bias random."""
    made: Any = build_layer(
        sizes(mixing=mixing, kernel_size=kernel_size), index, causal=causal
    ).double()
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator, dtype=torch.float64) / 2)
    return made


def words(count, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 8, generator=generator, dtype=torch.float64)


def equal(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_plain_self_attention_is_not_built_as_a_convolution():
    with pytest.raises(AssertionError, match="build_self_attention"):
        layer("self-attention", causal=False)


@others
@stacks
@pytest.mark.parametrize(("index", "kernel_size"), [(0, 3), (1, 3), (0, 5), (0, 1)])
def test_a_packed_batch_equals_a_plain_loop_over_each_sentence(mixing, causal, index, kernel_size):
    made = layer(mixing, causal=causal, index=index, kernel_size=kernel_size)
    x = words(sum(LENGTHS))
    expected = [mixing_by_hand(made, one) for one in x.split(LENGTHS)]
    equal(made(x, SentenceLayout(LENGTHS)), torch.cat(expected))


@stacks
def test_the_recurrent_layer_equals_torch_s_own_on_each_sentence(causal):
    made = layer("recurrent", causal=causal)
    width = 8 if causal else 4
    its = nn.LSTM(8, width, bidirectional=not causal, dtype=torch.float64)
    its.load_state_dict(made.lstm.state_dict())
    x = words(sum(LENGTHS))
    equal(made(x, SentenceLayout(LENGTHS)), torch.cat([its(one)[0] for one in x.split(LENGTHS)]))


@stacks
@pytest.mark.parametrize("lengths", [(5, 1, 12, 3), (21,), (7, 7, 7)])
def test_the_recurrent_layer_is_the_same_in_float32(lengths, causal):
    """SentenceLayout of one length take another way through torch, in float32 only."""
    made, x = layer("recurrent", causal=causal), words(21)
    found = [
        copy.deepcopy(made).float()(x.float(), SentenceLayout(lengths)),
        made(x, SentenceLayout(lengths)),
    ]
    torch.testing.assert_close(found[0].double(), found[1], rtol=0, atol=1e-5)


@stacks
def test_the_whole_convolution_equals_torch_s_own(causal):
    made = layer("dilated", causal=causal, index=1)
    x = words(20)
    matrix = made.projection.output.weight.view(8, 3, 8).transpose(1, 2)  # [out in k]
    dilation, edges = (3, (6, 0)) if causal else (2, (2, 2))
    its = nn.functional.conv1d(nn.functional.pad(x.T, edges), matrix, dilation=dilation)
    equal(made(x, SentenceLayout((20,))), its.T)


@others
def test_gradients_are_those_of_the_plain_loop(mixing):
    made, x = layer(mixing, causal=False), words(6)
    direction = words(6, seed=4)
    found = []
    for run in (lambda: made(x, SentenceLayout((2, 4))), lambda: by_hand(made, x, (2, 4))):
        made.zero_grad()
        (run() * direction).sum().backward()
        found.append([weight.grad.clone() for weight in made.parameters()])
    for ours, theirs in zip(*found, strict=True):
        equal(ours, theirs)


def by_hand(made, x, lengths):
    return torch.cat([mixing_by_hand(made, one) for one in x.split(lengths)])


@others
def test_a_sentence_has_the_same_states_alone_as_in_any_batch(mixing):
    model = model_of(sizes(mixing=mixing))
    sources, targets = sentences((5, 1, 9, 3)), sentences((2, 6, 1, 8), seed=5)
    together = states_of(model, Packed.from_sentences(sources), Packed.from_sentences(targets))
    alone = [
        states_of(model, Packed.from_sentences([one]), Packed.from_sentences([other]))
        for one, other in zip(sources, targets, strict=True)
    ]
    for states, parts in zip(together, zip(*alone, strict=True), strict=True):
        equal(states, torch.cat(parts))


@others
def test_an_infinite_token_of_another_sentence_changes_nothing(mixing):
    made, x = layer(mixing, causal=False), words(9)
    x[4:] = math.inf
    equal(made(x, SentenceLayout((4, 5)))[:4], made(x[:4], SentenceLayout((4,))))


@others
def test_no_gradient_of_the_decoder_goes_to_a_later_symbol(mixing):
    x = words(9).requires_grad_()
    for made in (one.self_attention for one in model_of(sizes(mixing=mixing)).decoder):
        for place in range(9):
            (felt,) = torch.autograd.grad(made(x, SentenceLayout((9,)))[place].sum(), x)
            assert felt[place].abs().sum() > 0
            assert not felt[place + 1 :].any()


@others
def test_the_encoder_depends_on_both_sides(mixing):
    x = words(3).requires_grad_()
    made = layer(mixing, causal=False)
    (felt,) = torch.autograd.grad(made(x, SentenceLayout((3,)))[1].sum(), x)
    assert felt.abs().sum(dim=1).gt(0).all()


def test_each_dilated_layer_begins_where_those_below_it_end():
    assert [layer("dilated", causal=False, index=n, kernel_size=5).offsets for n in range(3)] == [
        (-2, -1, 0, 1, 2),
        (-6, -3, 0, 3, 6),
        (-18, -9, 0, 9, 18),
    ]
    assert [layer("dilated", causal=True, index=n).offsets for n in range(3)] == [
        (-2, -1, 0),
        (-6, -3, 0),
        (-18, -9, 0),
    ]
    assert min(layer("dilated", causal=True, index=900).offsets) > -(1 << 22)


@pytest.mark.parametrize("mixing", ["convolution", "separable"])
@pytest.mark.parametrize("index", [0, 2])
def test_a_layer_that_is_not_dilated_reads_its_k_nearest_words(mixing, index):
    for causal, offsets in ((False, (-2, -1, 0, 1, 2)), (True, (-4, -3, -2, -1, 0))):
        assert layer(mixing, causal=causal, index=index, kernel_size=5).offsets == offsets


@others
@pytest.mark.parametrize("kernel_size", [1, 5])
def test_the_formula_counts_the_parameters_of_the_model(mixing, kernel_size):
    architecture = sizes(mixing=mixing, kernel_size=kernel_size, layers=3)
    model = build_transformer(architecture, 17, 17, 1, find_mixing(architecture))
    counted = sum(weight.numel() for weight in model.named_weights().values())
    assert count_parameters(architecture, 17, 17) == counted


@pytest.mark.slow
@others
def test_a_model_learns_to_copy(mixing):
    architecture = sizes(mixing=mixing, d_model=32, d_ff=64, d_k=16, d_v=16)
    model = build_transformer(architecture, 11, 11, 1, find_mixing(architecture))
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for update in range(120):
        batch = packed((4, 6, 5, 7, 3, 6, 5, 4), seed=update)
        _, states = states_of(model, batch, batch)
        loss = nn.functional.cross_entropy(model.logits(states), batch.ids)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10]), losses[-1]
