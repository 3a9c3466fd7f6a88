"""Every value of every setting of the architecture, found in the settings themselves.

A new setting, or a new value of one, is tested here without being named: its weights follow from
the seed alone, the formulas of settings/counts.py fit the built model, and decoding step by step
equals the whole pass.
"""

import dataclasses
import functools
import math
import re
from itertools import cycle
from typing import Any

import pytest
import torch
from tests.model.tiny import model_of, packed, sentences, states_of
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from transduce.errors import InputError
from transduce.fast.choose import KNOWN_COMPATIBILITIES
from transduce.mixing import find_mixing
from transduce.packed import Packed
from transduce.paper.model import Transformer, build_transformer, initialise
from transduce.runs.machine_settings import estimate_token_bytes
from transduce.settings import Architecture, Training
from transduce.settings.counts import TextSize, count_forward_operations, count_parameters
from transduce.training.equip import equip_for_training

SOURCE_SYMBOLS, TARGET_SYMBOLS = 13, 11
SMALL: dict[str, Any] = {"layers": 2, "d_model": 8, "d_ff": 12, "heads": 2, "d_k": 3, "d_v": 5}
SMALL |= {"dropout": 0.0, "max_positions": 40}
NUMBERS = {int: (0, 1, 4, 5), float: (0.0, 0.3), bool: (False, True)}


def values_of(field):
    """Return all values of a setting of words, as its error lists them; a few of a number."""
    if field.type is not str:
        valid = [value for value in NUMBERS[field.type] if is_valid({field.name: value})]
        return [value for value in valid if value != 4 or 5 not in valid]  # one of both will do
    unknown: dict[str, Any] = {field.name: "?"}
    with pytest.raises(InputError) as error:
        Architecture(**unknown)
    listed = re.search(r"is one of (.*), not '\?'", error.value.fact)
    assert listed, f"{error.value.fact}: the values of architecture.{field.name} are not listed"
    return listed[1].split(", ")


def is_valid(change):
    try:
        Architecture(**SMALL | change)
    except InputError:
        return False
    return True


def every_choice():
    """{setting: value} for each value of each setting, and the last of each with one mixing."""
    fields = {field.name: field for field in dataclasses.fields(Architecture)}
    single = [{name: value} for name, field in fields.items() for value in values_of(field)]
    last = [{name: values_of(field)[-1]} for name, field in fields.items() if name != "mixing"]
    pairs = [
        {"mixing": mixing} | one
        for one, mixing in zip(last, cycle(values_of(fields["mixing"])[1:]))  # in turn
    ]
    wanted = [*single, *filter(is_valid, pairs)]
    return [pytest.param(change, id=spell(change)) for change in wanted]


def spell(change):
    return "-".join(f"{name}={value}" for name, value in change.items())


every = pytest.mark.parametrize("change", every_choice())
every_with_cache = pytest.mark.parametrize(
    "change", [choice for choice in every_choice() if "mixing" not in choice.values[0]]
)
# for fast/'s own cache: with other functions of compatibility the plain one is used
FAST_CACHE_CHOICES = [
    choice
    for choice in every_choice()
    if "mixing" not in choice.values[0]
    and choice.values[0].get("compatibility", "dot") in KNOWN_COMPATIBILITIES
]
every_with_fast_cache = pytest.mark.parametrize("change", FAST_CACHE_CHOICES)
built = functools.cache(model_of)  # shared by the tests that change no weight


def small(change, **more):
    return Architecture(**SMALL | more | change)


def test_the_choices_are_found_in_the_settings():
    found = [choice.id for choice in every_choice()]
    assert {"positions=learned", "norm=pre", "tie_embeddings=none", "mixing=separable"} <= {*found}
    assert {"decoder_neighbourhood=5", "attention_dropout=0.3", "layers=5"} <= {*found}
    assert any(re.fullmatch("mixing=.*-norm=pre", one) for one in found)
    assert len(found) == len(set(found))


@every
def test_the_seed_alone_decides_all_weights(change):
    found = []
    for state in (1, 2):
        torch.manual_seed(state)
        sizes = small(change)
        model = build_transformer(sizes, SOURCE_SYMBOLS, TARGET_SYMBOLS, 4, find_mixing(sizes))
        found.append(model.named_weights())
    for name, weight in found[0].items():
        assert torch.equal(weight, found[1][name]), name
        assert weight.isfinite().all(), name


@every
def test_no_weight_keeps_what_it_was_created_with(change):
    sizes = small(change)
    model = Transformer(sizes, SOURCE_SYMBOLS, TARGET_SYMBOLS, build_mixing=find_mixing(sizes))
    with torch.no_grad():
        for weight in model.parameters():
            weight.fill_(123.0)
    initialise(model, torch.Generator().manual_seed(4))
    for name, filled in model.named_parameters():
        assert not (filled == 123.0).any(), name


class ForgottenGate(nn.Module):
    """A layer that draws one of its two matrices only."""

    def __init__(self):
        super().__init__()
        self.inner, self.gate = nn.Linear(3, 4, bias=False), nn.Linear(3, 4, bias=False)

    def initialise(self, generator):
        nn.init.normal_(self.inner.weight, generator=generator)


def test_a_layer_that_forgets_a_matrix_is_an_error():
    with pytest.raises(AssertionError, match=r"no layer's `initialise` sets gate\.weight"):
        initialise(ForgottenGate(), torch.Generator())


@every
def test_the_formula_counts_the_parameters_of_the_built_model(change):
    sizes = small(change)
    model = Transformer(sizes, SOURCE_SYMBOLS, TARGET_SYMBOLS, build_mixing=find_mixing(sizes))
    counted = sum(weight.numel() for weight in model.parameters())
    assert count_parameters(sizes, SOURCE_SYMBOLS, TARGET_SYMBOLS) == counted


B, N, M = 3, 7, 5  # sentences of one length: nothing is padded anywhere
TEXT = TextSize(*map(float, (B * N, B * M, B * N**2, B * M**2, B * N * M)))


def two_for_each(*_shapes, out_shape, **_):
    return 2 * math.prod(out_shape)


@every
def test_the_formula_counts_the_operations_of_a_forward_pass(change):
    """In float64, for which torch has no fused LSTM: every step is a product that it counts."""
    sizes = small(change)
    model = built(sizes)
    source = Packed.from_sentences([range(2, 2 + N)] * B)
    target = Packed.from_sentences([range(2, 2 + M)] * B)
    rules = {torch.ops.aten.addcmul: two_for_each}
    with torch.no_grad(), FlopCounterMode(display=False, custom_mapping=rules) as counter:
        model.logits(states_of(model, source, target)[1])
    formula = count_forward_operations(sizes, model.target.weight.shape[0], TEXT)
    assert formula == counter.get_total_flops()


def kept_bytes(model, source, target):
    """Bytes that the forward pass keeps for the backward pass, each tensor's memory once."""
    weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor):
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)  # held, so no address twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        states_of(model, source, target)
    sizes = {at: tensor.untyped_storage().nbytes() for at, tensor in kept.items()}
    return sum(size for at, size in sizes.items() if at not in weights)


# Proportions of the base model and lengths of usual sentences: what an estimate is made for.
USUAL: dict[str, Any] = {"d_model": 64, "d_ff": 256, "heads": 4, "d_k": 16, "d_v": 16}
USUAL |= {"dropout": 0.1}
WIDTHS = {"d_model", "d_ff", "heads", "d_k", "d_v"}


@pytest.mark.parametrize("change", [one for one in every_choice() if not WIDTHS & {*one.values[0]}])
def test_the_estimate_of_memory_covers_what_is_kept_for_the_backward_pass(change):
    sizes = small(change, **USUAL)
    model = build_transformer(sizes, 100, 100, 1, find_mixing(sizes)).train()
    equip_for_training(model, Training())
    lengths = (25,) * 8
    kept = kept_bytes(model, packed(lengths, symbols=100), packed(lengths, symbols=100, seed=3))
    tokens = 2 * sum(lengths)
    assert kept <= tokens * estimate_token_bytes(sizes) <= 3 * kept


@every_with_cache
@torch.no_grad()
def test_decoding_step_by_step_equals_the_whole_pass(change):
    model = built(small(change)).eval()
    sources, inputs = sentences([5, 1, 8]), sentences([9, 9, 9], seed=4)
    memory = model.encode(Packed.from_sentences(sources))
    expected = model.decode(Packed.from_sentences(inputs), memory).unflatten(0, (3, 9))
    cache = model.start_cache(memory)
    for step, ids in enumerate(zip(*inputs, strict=True)):
        states, cache = model.decode_step(torch.tensor(ids), cache)
        torch.testing.assert_close(states, expected[:, step], rtol=0, atol=1e-12)
