"""Residual dropout: which dropout stands where."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes, states_of
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from transduce.packed import Batch
from transduce.paper.model import AddDropout, Dropout, FeedForward, Residual, Transformer
from transduce.paper.operations import PLAIN, attention
from transduce.paper.training import batch_loss
from transduce.settings import Architecture, Training

N = 3


@dataclass
class DropoutRecord:
    """What was handed to dropout by whom, and what the sub-layers gave."""

    residual: list[Any] = field(default_factory=list)
    embedded: list[Any] = field(default_factory=list)
    relu: list[Any] = field(default_factory=list)
    attention: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)


@pytest.fixture
def recorded():
    """A record of what dropouts are given, still empty."""
    return DropoutRecord()


def run(record, **rates):
    """Run a model; note the tensor that each dropout drops elements of, and its rate."""

    def record_attention(*given):
        attend = PLAIN.build_attention(*given)

        def attend_noted(q, k, v, dropout=0.0):
            record.attention.append(dropout)
            return attend(q, k, v, dropout)

        return attend_noted

    model = model_of(
        sizes(layers=N, **rates), operations=replace(PLAIN, build_attention=record_attention)
    )
    for name, module in model.named_modules():
        if name.split(".")[-1] in ("self_attention", "cross_attention", "feed_forward"):
            module.register_forward_hook(lambda _, __, out: record.outputs.append(out))
        for owner, calls in (
            (Transformer, record.embedded),
            (FeedForward, record.relu),
            (Residual, record.residual),
        ):
            if isinstance(module, owner):
                (dropout,) = [m for m in module.children() if isinstance(m, Dropout | AddDropout)]
                dropout.register_forward_pre_hook(
                    lambda own, given, calls=calls: calls.append((given[-1], own.p))
                )
    states_of(model, packed([4, 2]), packed([3, 5]))
    return model


def test_it_falls_on_the_output_of_every_sub_layer_before_it_is_added(recorded):
    run(recorded, dropout=0.1)
    assert len(recorded.residual) == len(recorded.outputs) == 2 * N + 3 * N
    for (argument, p), output in zip(recorded.residual, recorded.outputs, strict=True):
        assert argument is output
        assert p == 0.1


def test_the_path_around_a_sub_layer_is_never_dropped(monkeypatch):
    """With every output dropped, LayerNorm(x + 0) is left."""
    monkeypatch.setattr(functional, "dropout", lambda x, *_: torch.zeros_like(x))
    residual, x = Residual(sizes(dropout=0.1)), torch.randn(3, 8)
    torch.testing.assert_close(residual(x, torch.randn_like), residual.norm(x))


def test_a_share_p_of_all_numbers_is_dropped_and_the_rest_scaled():
    torch.manual_seed(1)
    x = torch.ones(100, 100)
    for out in (Dropout(0.2)(x), AddDropout(0.2)(torch.zeros_like(x), x)):
        torch.testing.assert_close(out.unique(), torch.tensor([0.0, 1 / 0.8]))
        assert (out == 0).double().mean().item() == pytest.approx(0.2, abs=0.02)


def test_it_falls_on_the_sums_of_embeddings_and_positions_in_both_stacks(recorded):
    model = run(recorded, dropout=0.1)
    source, target = packed([4, 2]), packed([3, 5]).shift_right(1)
    assert len(recorded.embedded) == 2
    for (argument, p), words in zip(recorded.embedded, (source, target), strict=True):
        places = model.source_positions(words.compute_positions(), max(words.lengths))
        torch.testing.assert_close(argument, model.target(words.ids) + places)
        assert p == 0.1


def test_none_falls_on_attention_weights_or_inside_the_feed_forward_network(recorded):
    """The text names no such place for translation: both are settings, 0 by default."""
    assert (Architecture().attention_dropout, Architecture().feed_forward_dropout) == (0, 0)
    run(recorded, dropout=0.1)
    assert {*recorded.attention, *(p for _, p in recorded.relu)} == {0.0}


def test_nothing_else_is_drawn_from_the_symbols_to_the_loss():
    """Two sums and all sub-layers' outputs: no logits, no scores, no states on their way."""
    model, batch = model_of(sizes(layers=N, dropout=0.1)), Batch(packed([4, 2]), packed([3, 5]))
    with DrawRecorder() as draws:
        batch_loss(model, Training(), batch)
    assert draws.shapes == [(6, 8)] * (1 + 2 * N) + [(8, 8)] * (1 + 3 * N)


class DrawRecorder(TorchDispatchMode):
    """Notes the shape of whatever is filled at random."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def __torch_dispatch__(self, operation, _types, given=(), named=None):
        if any(word in str(operation) for word in ("bernoulli", "dropout", "rand")):
            self.shapes.append(tuple(given[0].shape))
        return operation(*given, **(named or {}))


def test_as_settings_they_fall_on_the_weights_and_on_the_relu(recorded):
    """Section 6.3 drops attention, too; T2T of a later date dropped both."""
    run(recorded, attention_dropout=0.2, feed_forward_dropout=0.3)
    assert [p for _, p in recorded.relu] == [0.3] * 2 * N
    assert all((x >= 0).all() and x.shape[1] == 12 for x, _ in recorded.relu)
    assert recorded.attention == [0.2] * 3 * N


def test_dropout_of_attention_falls_on_the_weights_after_the_softmax():
    """With v the unit vectors and q = 0 what is out are the weights: 0, or their share scaled."""
    q, v = torch.zeros(1, 8, 2), torch.eye(8)[None]
    out = attention(q, q, v, torch.ones(8, 8, dtype=torch.bool), 0.5)
    assert {*out.unique().tolist()} == {0.0, 2 / 8}


def test_nothing_is_dropped_in_evaluation():
    model = model_of(sizes(dropout=0.5, attention_dropout=0.5, feed_forward_dropout=0.5))
    model.eval()
    first, again = (states_of(model, packed([4]), packed([3]))[1] for _ in range(2))
    assert torch.equal(first, again)
    model.train()
    assert not torch.equal(states_of(model, packed([4]), packed([3]))[1], first)


def test_the_rate_is_a_tenth():
    """P_drop = 0.1 for base."""
    assert Architecture().dropout == 0.1
