"""The modules behind the ONNX graphs compute what the model computes, padded and step by step."""

import numpy as np
import pytest
import torch
from tests.exports.random_members import random_member, shapes
from tests.exports.test_ctranslate2 import SOURCE, TARGET, our_log_probs

from transduce.exports.to_onnx import EncoderGraph, StepGraph, copy_plain, trace_encoder, trace_step

LONGER = [9, 8, 7, 6, 5, 4, 3, 0]


@torch.inference_mode()
def step_through(member):
    """Return log P of the symbols after each prefix of the target, beside a longer sentence."""
    encoder, step = EncoderGraph(member.transformer), StepGraph(member.transformer)
    padding = [0] * (len(LONGER) - len(SOURCE))
    ids = torch.tensor([[*SOURCE, *padding], LONGER])
    mask = torch.tensor([[True] * len(SOURCE) + [False] * len(padding), [True] * len(LONGER)])
    memory = encoder(ids, mask)
    past, found = tuple(one[:, :, :, :0] for one in memory), []
    for position, symbol in enumerate([1, *TARGET]):
        symbols, at = torch.tensor([symbol, 1]), torch.tensor([position])
        log_probs, *past = step(symbols, at, mask, memory, tuple(past))
        found.append(log_probs[0].numpy())
    return np.stack(found)


@pytest.mark.parametrize("name", shapes())
def test_the_step_with_its_cache_computes_the_models_log_probabilities(name):
    member = random_member(shapes()[name])
    np.testing.assert_allclose(step_through(member), our_log_probs(member), rtol=2e-6, atol=2e-5)


def drop(x, _p, training=True):
    """Return x as dropout does outside of training, in which an exported graph must not be."""
    assert not training
    return x


def test_the_graphs_are_float32_and_without_dropout_whatever_the_default_type_is(monkeypatch):
    traced = []
    monkeypatch.setattr(torch.onnx, "export", lambda *given, **_: traced.append(given[:2]))
    monkeypatch.setattr(torch.nn.functional, "dropout", drop)
    plain = random_member().transformer
    torch.set_default_dtype(torch.float64)
    try:
        trace_encoder(copy_plain(plain))
        trace_step(copy_plain(plain))
        for graph, examples in traced:
            assert {one.dtype for one in graph(*examples)} == {torch.float32}
    finally:
        torch.set_default_dtype(torch.float32)
