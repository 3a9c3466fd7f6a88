"""The layers of a decoding step as a graph: the plain layers' states, in every shape of a batch."""

from dataclasses import replace

import pytest
import torch
from tests.fast.test_inference_weights import LAYOUTS, convert, require_layout
from tests.fast.tiny import FAST, LOOPS
from tests.model.test_every_choice import FAST_CACHE_CHOICES, SMALL

from transduce.fast import layer_graph
from transduce.fast.choose import equip_for_inference
from transduce.fast.compiled_loops import MANY_ROWS
from transduce.fast.int8 import unsupported_int8_reason
from transduce.fast.layer_graph import STEPS_BEFORE, LayerGraph, StepKind
from transduce.mixing import find_mixing
from transduce.paper.model import StepwiseTransformer, build_transformer
from transduce.paper.operations import run_layers
from transduce.paper.search import beam_search
from transduce.settings import Architecture, Search
from transduce.settings.search import InferencePrecision

pytestmark = pytest.mark.usefixtures("unchecked_types")  # a traced size is a tensor
SYMBOLS = 40
FEW = StepKind.FEW_ROWS
SEARCH = Search(batch_size=5, alpha=0.6, extra_length=9)  # sentences come and go
SOURCES = [[1 + (7 * i + j) % (SYMBOLS - 1) for j in range(2 + i % 7)] + [0] for i in range(12)]
MANY_SOURCES = SOURCES * 3  # with 4 hypotheses each more than MANY_ROWS
ALL_AT_ONCE = Search(batch_size=len(MANY_SOURCES), alpha=0.6, extra_length=9)


def untrained(change=()):
    sizes = Architecture(**SMALL | {"layers": 1} | dict(change))
    model = build_transformer(sizes, SYMBOLS, SYMBOLS, 3, find_mixing(sizes)).eval().float()
    model.operations = FAST
    return model


def search_with(model, graph, sources=SOURCES, search=SEARCH, operations=FAST):
    operations = replace(operations, run_layers=graph or run_layers)
    return beam_search(StepwiseTransformer(model, operations), sources, search)


def traced_early(monkeypatch, model):
    """Return the model's graph, which the first step of a search with few or many rows traces."""
    monkeypatch.setattr(layer_graph, "STEPS_BEFORE", dict.fromkeys(StepKind, 1))
    return LayerGraph(model.decoder)


def require_equal_searches(model, graph, operations=FAST):
    for sources, search in ((SOURCES, SEARCH), (MANY_SOURCES, ALL_AT_ONCE)):
        plain = search_with(model, None, sources, search, operations)
        assert search_with(model, graph, sources, search, operations) == plain, (
            "ids, scores and log P"
        )
    many = StepKind.COMPILED_LOOPS if operations is LOOPS else StepKind.MANY_ROWS
    assert graph.graphs.keys() == {FEW, many}
    assert all(graph.graphs.values()), "it was not traced, or its first states were others"


@pytest.mark.usefixtures("compiled_loops")
def test_with_compiled_loops_the_graph_is_the_plain_search_too(monkeypatch):
    model = untrained()
    require_equal_searches(model, traced_early(monkeypatch, model), LOOPS)


# what the decoder's layers do not see: the encoder, embeddings, and what only training has
UNSEEN = {"encoder_layers", "encoder_neighbourhood", "tie_embeddings", "initialisation"}
UNSEEN |= {"output_bias", "positions", "max_positions", "kernel_size", "mixing"}
UNSEEN |= {"dropout", "attention_dropout", "feed_forward_dropout"}


@pytest.mark.parametrize(
    "change", [one for one in FAST_CACHE_CHOICES if not UNSEEN & {*one.values[0]}]
)
def test_a_search_with_the_graph_is_the_plain_search_to_the_bit(change, monkeypatch):
    model = untrained(change)
    require_equal_searches(model, traced_early(monkeypatch, model))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_with_packed_weights_are_the_same_in_the_graph(layout, monkeypatch):
    require_layout(layout)
    model = untrained()
    convert(model, layout)
    require_equal_searches(model, traced_early(monkeypatch, model))


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_products_of_less_precision_are_the_same_in_the_graph(precision, monkeypatch):
    if precision == "int8" and unsupported_int8_reason():
        pytest.skip(unsupported_int8_reason())
    model = untrained()
    equip_for_inference(model, InferencePrecision(precision))
    require_equal_searches(model, traced_early(monkeypatch, model))


def test_a_short_search_traces_nothing():
    model = untrained()
    equip_for_inference(model, InferencePrecision.FLOAT32)
    graph = model.operations.run_layers
    assert isinstance(graph, LayerGraph)
    search_with(model, graph, SOURCES[:1])
    assert not graph.graphs
    assert STEPS_BEFORE[FEW] - 20 < graph.steps_left[FEW] < STEPS_BEFORE[FEW]
    while graph.steps_left[FEW] > 0:
        search_with(model, graph, SOURCES[:1])
    assert graph.graphs.keys() == {FEW}
    assert graph.steps_left[StepKind.MANY_ROWS] == STEPS_BEFORE[StepKind.MANY_ROWS]


def test_a_torch_that_cannot_trace_searches_plainly(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("torch.jit.trace is gone")

    model = untrained()
    graph = traced_early(monkeypatch, model)
    monkeypatch.setattr(torch.jit, "trace", refuse)
    plain = search_with(model, None)
    assert search_with(model, graph) == plain
    assert graph.graphs == {FEW: None}


def test_a_graph_with_other_states_is_not_used(monkeypatch):
    model = untrained()
    graph = traced_early(monkeypatch, model)
    monkeypatch.setattr(
        torch.jit, "trace", lambda layers, *_, **__: lambda x, *step: layers(x, *step) * 2
    )
    plain = search_with(model, None)
    assert search_with(model, graph) == plain
    assert graph.graphs == {FEW: None}


def test_many_rows_are_more_than_some_sentences_have():
    assert len(SOURCES) * 4 < MANY_ROWS < len(MANY_SOURCES) * 4
