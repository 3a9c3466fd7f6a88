"""How many operators Python calls in one step of a search: with few rows each call counts."""

import pytest
import torch
from torch.overrides import TorchFunctionMode

from transduce.fast import layer_graph
from transduce.fast.choose import equip_for_inference
from transduce.fast.int8 import unsupported_int8_reason
from transduce.fast.layer_graph import STEPS_BEFORE
from transduce.paper.model import StepwiseTransformer, build_transformer
from transduce.paper.search import beam_strategy, start_batch, take_first_step, take_step
from transduce.settings import Architecture, Search
from transduce.settings.search import InferencePrecision

STEPS = 8  # slots of the KV cache are copied in every fourth
MOST = {"float32": 214, "int8": 310}  # calls of a step in the mean, with 4 layers
MOST_WITH_GRAPH = {"float32": 109, "int8": 113}


class CallCounter(TorchFunctionMode):
    """Counts the calls of torch's functions and tensor methods; reading an attribute is none."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_function__(self, function, types, arguments=(), named=None):
        self.count += getattr(function, "__name__", "") != "__get__"
        return function(*arguments, **(named or {}))


@pytest.mark.usefixtures("unchecked_types")  # a check of shapes calls operators, too
@pytest.mark.parametrize("precision", MOST)
def test_a_step_with_four_layers_takes_few_operator_calls(precision):
    count = count_calls(precision)
    assert 0.9 * MOST[precision] < count <= MOST[precision]


@pytest.mark.usefixtures("unchecked_types")  # a traced size is a tensor
@pytest.mark.parametrize("precision", MOST_WITH_GRAPH)
def test_the_graph_of_the_layers_is_one_call(precision, monkeypatch):
    monkeypatch.setattr(layer_graph, "STEPS_BEFORE", dict.fromkeys(STEPS_BEFORE, 1))
    count = count_calls(precision)
    assert 0.9 * MOST_WITH_GRAPH[precision] < count <= MOST_WITH_GRAPH[precision]


def count_calls(precision):
    """Return the calls of a step in the mean."""
    if precision == "int8" and unsupported_int8_reason():
        pytest.skip(unsupported_int8_reason())
    shape = Architecture(layers=4, d_model=16, d_ff=32, heads=2, d_k=8, d_v=8)
    model = build_transformer(shape, 1000, 1000, seed=1).eval()
    equip_for_inference(model, InferencePrecision(precision))
    decoder, sources, search = (
        StepwiseTransformer(model),
        [[5, 6, 7, 8, 9, 0]],
        Search(batch_size=1),
    )
    strategy = beam_strategy(decoder, sources, search, operations=model.operations)
    with torch.inference_mode():
        first = start_batch(decoder, sources, [0], search, strategy)
        batch, _ = take_first_step(decoder, first, strategy)
        with CallCounter() as calls:
            for _ in range(STEPS):
                assert batch is not None
                batch, results = take_step(decoder, batch, strategy)
                assert not results, "a search that ended would be counted as cheap"
    return calls.count / STEPS
