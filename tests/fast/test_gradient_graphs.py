"""A batch whose CUDA graph fails is computed without one; only a GPU has the graphs themselves."""

from types import SimpleNamespace

import pytest
import torch
from tests.training.tiny import fresh, training_of

from transduce.errors import InputError
from transduce.fast.gradient_graphs import GradientGraphs


@pytest.mark.parametrize("error", [InputError("too few positions", "fewer"), RuntimeError("full")])
def test_a_graph_that_cannot_be_recorded_leaves_the_plain_gradients(monkeypatch, error):
    found = {
        "get_rng_state": torch.zeros(1),
        "set_rng_state": None,
        "reset_peak_memory_stats": None,
        "get_device_properties": SimpleNamespace(total_memory=1),
        "max_memory_allocated": 0,
    }
    for name, value in found.items():
        monkeypatch.setattr(torch.cuda, name, lambda *_, value=value: value)
    _, optimiser = fresh(training_of())
    gradients = optimiser.weights.grad

    def compute(value):
        gradients.fill_(value)
        return torch.full((2,), value)

    def fail():
        compute(5.0)
        raise error

    graphs = GradientGraphs(optimiser)
    for other, expected in ((lambda: compute(3.0), True), (fail, False)):
        sums, is_same = graphs.compare(lambda: compute(3.0), other)
        assert is_same == expected
        assert sums.tolist() == [3.0, 3.0]
        assert (gradients == 3.0).all()
