"""What was changed in a chapter of `paper/` is computed as changed, and not fast as it was."""

import sys
from dataclasses import fields, replace
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes
from tests.training.tiny import training_of
from torch.nn import functional
from torch.nn.utils import clip_grad_norm_

import transduce
from transduce import equip
from transduce.equip import import_fast
from transduce.errors import InputError
from transduce.fast import flat_adam
from transduce.fast.choose import equip_for_inference, equip_for_training
from transduce.fast.flat_adam import FlatAdam, choose_optimiser
from transduce.fast.int8 import is_never_negative
from transduce.fast.unchanged import ORIGINALS, find_changed, hash_code, is_changed
from transduce.packed import Batch
from transduce.paper import operations, training
from transduce.paper.model import (
    AddDropout,
    Dropout,
    FeedForward,
    LayerNorm,
    Linear,
    SelfAttention,
    StepwiseTransformer,
    Transformer,
    initialise,
)
from transduce.paper.operations import PLAIN, AttentionMask, Operations
from transduce.paper.search import beam_search
from transduce.paper.training import Adam
from transduce.settings import Search
from transduce.settings.search import InferencePrecision
from transduce.training.equip import require_compiler

SOURCES = packed([3]).to_sentences()


@pytest.fixture(autouse=True)
def count_as_unchanged(request, monkeypatch):
    """The chapters as they are, perhaps edited, except in the test of their hashes."""
    if request.function is test_every_fast_form_was_compared_with_the_chapters_as_they_are:
        return
    for name, (replaced, _) in ORIGINALS.items():
        monkeypatch.setitem(ORIGINALS, name, (replaced, hash_code(name)))
    is_changed.cache_clear()


@pytest.fixture
def change(monkeypatch):
    """A function that changes an attribute; what was compared before is compared anew."""

    def set_attribute(owner, name, value):
        monkeypatch.setattr(owner, name, value)
        is_changed.cache_clear()

    yield set_attribute
    is_changed.cache_clear()


def test_every_fast_form_was_compared_with_the_chapters_as_they_are():
    """If not, compare it (tests/fast), then write the new hash into `ORIGINALS`."""
    found = {name: hash_code(name) for name in ORIGINALS}
    assert found == {name: expected for name, (_, expected) in ORIGINALS.items()}
    assert choose_optimiser() is FlatAdam


def test_comments_and_docstrings_change_nothing(tmp_path):
    """Nor do spaces and line breaks."""
    lines = Path(operations.__file__).read_text(encoding="utf-8").splitlines()
    start = lines.index('def log_softmax(logits: Float[Tensor, "R V"]) -> Float[Tensor, "R V"]:')
    head, said, body = lines[start : start + 3]
    assert said.lstrip().startswith('"""')
    assert body.lstrip().startswith("return")
    other = tmp_path / "other_chapter.py"
    imports = "import torch\nfrom torch import Tensor\nfrom jaxtyping import Float\n\n\n"
    text = [head, '    """Other words."""', "    # and a comment", "", f"{body}  # another"]
    other.write_text(imports + "\n".join(text) + "\n", encoding="utf-8")
    spec = spec_from_file_location("other_chapter", other)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert not find_changed(replace(PLAIN, log_softmax=module.log_softmax))


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


@pytest.mark.parametrize("name", [field.name for field in fields(Operations)])
def test_another_function_is_another_even_if_it_returns_the_same(name):
    plain = getattr(PLAIN, name)
    changed: dict[str, Any] = {name: lambda *given: plain(*given)}
    assert find_changed(replace(PLAIN, **changed)) == {name}


@pytest.mark.parametrize("other", [torch.Tensor.log_softmax, partial(torch.log_softmax, dim=1)])
def test_a_function_without_source_is_another(other):
    assert find_changed(replace(PLAIN, log_softmax=other)) == {"log_softmax"}


@pytest.mark.parametrize(
    ("part", "method", "names"),
    [
        (Transformer, "decode_step", {"run_layers", "add_gradients"}),
        (SelfAttention, "decode_step", {"start_cache", "run_layers", "add_gradients"}),
        (FeedForward, "compute_inner", {"run_layers", "add_gradients"}),
        (AttentionMask, "reach", {"build_attention", "start_cache"}),
        (operations.PlainLayerCache, "attend", {"start_cache"}),
        (operations, "stable_topk", {"highest_sums"}),
        (training, "batch_loss", {"add_gradients"}),
        (Adam, "update", {"Adam"}),
        (training, "update_weights", {"Adam"}),
        (training, "add_gradients", {"Adam", "add_gradients"}),
    ],
)
def test_whatever_a_fast_form_stands_for_can_change(change, part, method, names):
    """Even if only a later update, a setting or a step's place in the sentence shows it."""
    change(part, method, lambda *_: None)
    assert find_changed() == names


@pytest.mark.parametrize("name", ["__replace__", "__annotate__", "__annotate_func__"])
def test_a_method_that_a_newer_python_adds_is_no_change(monkeypatch, name):
    def added(self, /, **changes):
        return replace(self, **changes)

    monkeypatch.setattr(AttentionMask, name, added, raising=False)
    is_changed.cache_clear()
    assert find_changed() == set()


def test_a_changed_layer_is_searched_plainly(change):
    decode_step = SelfAttention.decode_step
    change(SelfAttention, "decode_step", lambda *given: decode_step(*given))
    model = model_of(sizes())
    equip_for_inference(model, InferencePrecision.FLOAT32)
    assert model.operations.run_layers is PLAIN.run_layers
    assert model.operations.start_cache is PLAIN.start_cache


def test_what_is_changed_is_said_when_training_starts(change, tmp_path):
    change(Adam, "restore", lambda *_: None)
    said: list[str] = []
    text = [(f"a b {n}", f"c d {n}") for n in range(20)]
    small = {"training.steps": 1, "data.vocabulary_size": 270}
    callbacks = transduce.TrainingCallbacks(on_message=said.append)
    run = tmp_path / "run"
    transduce.train(run, text, recipe="tiny", settings=small, callbacks=callbacks)
    assert "computed as paper/ is now, not by the fast form: Adam" in said


@pytest.mark.parametrize("module", [AddDropout, Dropout, LayerNorm, Linear])
def test_a_changed_module_keeps_its_class(change, module):
    forward = module.forward
    change(module, "forward", lambda self, *given: 1.01 * forward(self, *given))
    model = model_of(sizes())
    equip_for_training(model, training_of(precision="bfloat16"))
    assert is_changed(module.__name__)
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
    initialise(layer, torch.Generator().manual_seed(1))
    assert is_never_negative(layer)
    monkeypatch.setattr(FeedForward, "compute_inner", lambda self, x: activation(self.inner(x)))
    assert not is_never_negative(layer)


def test_another_optimiser_trains(change):
    change(Adam, "update", lambda *_: None)
    assert choose_optimiser() is Adam


def test_a_new_class_in_the_place_of_an_old_one_is_used(change):
    lion = type("Lion", (Adam,), {})
    change(flat_adam, "Adam", lion)
    assert choose_optimiser() is lion


def test_an_edited_update_finds_the_gradients_at_their_weights(change):
    """The flat optimiser takes them away."""
    unedited = training.update_weights

    def clipping(model, optimiser, *given, **named):
        optimiser.gradient_norm = lambda: clip_grad_norm_(model.parameters(), 1e-12)
        return unedited(model, optimiser, *given, **named)

    change(training, "update_weights", clipping)
    model, settings = model_of(sizes()), training_of()
    equip_for_training(model, settings)
    optimiser = choose_optimiser()(model, settings)
    batch = Batch(packed([3, 2]), packed([2, 4]))
    pending = clipping(model, optimiser, settings, 1, [batch])
    assert pending.gradient_norm > 0


def test_without_the_package_there_is_none_of_its_modules(monkeypatch):
    monkeypatch.setitem(sys.modules, "transduce.fast", None)
    assert import_fast("choose") is None


def test_a_variable_leaves_the_package_out(monkeypatch):
    monkeypatch.setenv("TRANSDUCE_PLAIN", "1")
    assert import_fast("choose") is None
    model = model_of(sizes())
    equip.equip_for_inference(model, InferencePrecision.FLOAT32)
    assert model.operations is PLAIN


def test_a_value_of_the_variable_that_means_nothing_is_refused(monkeypatch):
    monkeypatch.setenv("TRANSDUCE_PLAIN", "true")
    with pytest.raises(InputError, match="TRANSDUCE_PLAIN is 1 or 0, not 'true'"):
        import_fast("choose")


def test_what_the_variable_leaves_out_is_not_called_missing(monkeypatch):
    monkeypatch.setenv("TRANSDUCE_PLAIN", "1")
    assert equip.unsupported_int8_reason() == "TRANSDUCE_PLAIN is 1"
    with pytest.raises(InputError, match="and TRANSDUCE_PLAIN is 1"):
        require_compiler(training_of(compile=True), torch.device("cpu"))


def test_without_the_package_compiling_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "transduce.fast", None)
    require_compiler(training_of(), torch.device("cpu"))
    assert equip.unsupported_int8_reason() == "transduce.fast is not installed"
    with pytest.raises(InputError, match=r"training\.compile needs transduce\.fast"):
        require_compiler(training_of(compile=True), torch.device("cpu"))
