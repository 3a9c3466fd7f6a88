"""What was changed in a chapter of `paper/` is computed as changed, and not fast as it was."""

import sys
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes
from tests.training.tiny import training_of
from torch.nn import functional

from transduce.equip import import_fast
from transduce.errors import InputError
from transduce.fast.choose import equip_for_inference, equip_for_training
from transduce.fast.flat_adam import FlatAdam, choose_optimiser
from transduce.fast.int8 import is_never_negative
from transduce.fast.unchanged import find_changed_modules, find_changed_operations
from transduce.paper import operations
from transduce.paper.model import (
    AddDropout,
    Dropout,
    FeedForward,
    LayerNorm,
    Linear,
    Residual,
    StepwiseTransformer,
)
from transduce.paper.operations import PLAIN, Operations
from transduce.paper.search import beam_search
from transduce.paper.training import Adam
from transduce.settings import Search
from transduce.settings.search import InferencePrecision
from transduce.training.equip import require_compiler

SOURCES = packed([3]).to_sentences()


@pytest.fixture
def change(monkeypatch):
    """A function that changes an attribute; what was compared before is compared anew."""
    cached = find_changed_operations, find_changed_modules

    def set_attribute(owner, name, value):
        monkeypatch.setattr(owner, name, value)
        for one in cached:
            one.cache_clear()

    yield set_attribute
    for one in cached:
        one.cache_clear()


def test_nothing_is_changed_and_nothing_is_drawn():
    before = torch.get_rng_state()
    assert not find_changed_operations.__wrapped__()
    assert not find_changed_modules.__wrapped__()
    assert choose_optimiser.__wrapped__() is FlatAdam
    assert torch.equal(torch.get_rng_state(), before)


def sharper(q, k, v, allowed, dropout=0.0):
    return functional.dropout(operations.attention_weights(2 * q, k, allowed), dropout) @ v


def test_another_attention_is_that_of_training_and_of_searches(change):
    model, plain = model_of(sizes()), model_of(sizes())
    as_it_was = model.encode(packed([3, 2])).states
    change(operations, "attention", sharper)
    equip_for_training(model, training_of())
    states = model.encode(packed([3, 2])).states
    assert torch.equal(states, plain.encode(packed([3, 2]), PLAIN).states)
    assert not torch.allclose(states, as_it_was)
    equip_for_inference(model, InferencePrecision.FLOAT32)
    search = Search(beam=1, extra_length=2)
    decoders = [StepwiseTransformer(model, one) for one in (model.operations, PLAIN)]
    [[found]], [[expected]] = (beam_search(one, SOURCES, search) for one in decoders)
    assert found.ids == expected.ids
    assert found.log_prob == pytest.approx(expected.log_prob)


@pytest.mark.parametrize(
    "name", ["smoothed_loss", "log_softmax", "target_log_probs", "highest_sums"]
)
def test_another_function_is_found_by_its_values(name):
    plain = getattr(PLAIN, name)

    def other(*given):
        found = plain(*given)
        return 1.01 * found if torch.is_tensor(found) else (1.01 * found[0], found[1])

    change: dict[str, Any] = {name: other}
    assert find_changed_operations(replace(PLAIN, **change)) == {name}


@pytest.mark.parametrize("name", [field.name for field in fields(Operations)])
def test_a_function_with_other_arguments_is_another(name):
    change: dict[str, Any] = {name: lambda: None}
    assert find_changed_operations(replace(PLAIN, **change)) == {name}


def test_attention_that_takes_more_than_before_is_another(monkeypatch):
    """Such as a bias of each head: the model gives it to what was built, and `fast/` has none."""
    plain = operations.PlainLayerCache.attend

    def attend(self, q, bias=None):
        assert bias is None
        return plain(self, q)

    def build(*given):
        def attend(q, k, v, dropout=0.0, bias=None):
            assert bias is None
            return PLAIN.build_attention(*given)(q, k, v, dropout)

        return attend

    monkeypatch.setattr(operations.PlainLayerCache, "attend", attend)
    changed = find_changed_operations(replace(PLAIN, build_attention=build))
    assert changed == {"build_attention", "start_cache"}


@pytest.mark.parametrize("module", [AddDropout, Dropout, LayerNorm, Linear])
def test_a_changed_module_keeps_its_class(change, module):
    forward = module.forward
    change(module, "forward", lambda self, *given: 1.01 * forward(self, *given))
    model = model_of(sizes())
    equip_for_training(model, training_of(precision="bfloat16"))
    assert find_changed_modules() - {Residual} == {module}  # which holds a norm and a dropout
    assert module in map(type, model.modules())


class Doubled(Linear):
    """A linear map that computes something else."""

    def forward(self, x):
        return 2 * super().forward(x)


@torch.no_grad()
@pytest.mark.parametrize("precision", list(InferencePrecision))
def test_a_class_derived_from_linear_is_neither_packed_nor_rounded(precision):
    model = model_of(sizes())
    outer = model.decoder[0].self_attention.output
    outer.__class__ = Doubled
    equip_for_inference(model, precision)
    assert model.decoder[0].self_attention.output is outer
    assert type(model.decoder[0].cross_attention.output) is not Linear


@pytest.mark.parametrize("activation", [functional.gelu, functional.silu])
def test_int8_rounds_negative_activations_if_there_are_any(monkeypatch, activation):
    layer = FeedForward(sizes())
    layer.initialise(torch.Generator().manual_seed(1))
    assert is_never_negative(layer)
    monkeypatch.setattr(FeedForward, "compute_inner", lambda self, x: activation(self.inner(x)))
    assert not is_never_negative(layer)


def test_another_optimiser_trains():
    def build(model, training):
        return Adam(model, replace(training, beta1=0.5))

    assert choose_optimiser(build) is build
    assert choose_optimiser(Adam) is FlatAdam


def test_without_the_package_there_is_none_of_its_modules(monkeypatch):
    monkeypatch.setitem(sys.modules, "transduce.fast", None)
    assert import_fast("choose") is None


def test_without_the_package_compiling_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "transduce.fast", None)
    require_compiler(training_of(), torch.device("cpu"))
    with pytest.raises(InputError, match=r"training\.compile needs the package transduce\.fast"):
        require_compiler(training_of(compile=True), torch.device("cpu"))
