"""The layers of a decoding step on a GPU as one CUDA graph, which a single call starts

A step for few sentences is a hundred kernels of a few microseconds. A graph serves all steps with
the same number of hypotheses, whatever their lengths, because its kernels read the addresses of the
cache from a table. The number of sentences is rounded up, and the surplus results are dropped.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from transduce.fast.kv_cache import CacheStep, StepTensors
from transduce.packed import move_to_device
from transduce.paper.operations import LayerCache, StepLayer, run_layers

# S sentences · W hypotheses of each · R = S W rows

MOST_GRAPHS = 64
NEAR = 0.02  # a graph that differs more from the plain layers (relatively) is rejected


@final
class LayersGraph:
    """A CUDA graph of a decoding step's layers, for fixed numbers of sentences and hypotheses."""

    def __init__(self, decoder: Iterable[StepLayer], x: Tensor, step: StepTensors) -> None:
        """Run the layers once, to load kernels and compute `first`, its states; then capture."""
        from transduce.fast.triton_search import TABLE_LENGTH, TableLayer

        width, device = step.visible.shape[1], x.device
        heads, d_v = step.new_values.shape[2], step.new_values.shape[4]
        sentences = round_up_sentences(step.memory_mask.shape[0])
        self.x = x.new_zeros(sentences * width, x.shape[1])
        self.table = torch.zeros(TABLE_LENGTH, dtype=torch.int64, device=device)
        layers = [
            TableLayer(self.table, number, width, d_v, heads) for number in range(len(step.keys))
        ]
        self.graph, self.states = torch.cuda.CUDAGraph(), self.x
        self.fill(x, step)
        self.first = run_layers(decoder, self.x, layers)[: len(x)].clone()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.states = run_layers(decoder, self.x, layers)

    def fill(self, x: Float[Tensor, "R d_model"], step: StepTensors) -> None:
        """Copy x and the addresses of the step's cache tensors to where the graph reads them."""
        from transduce.fast.triton_search import list_table

        self.x[: len(x)] = x
        self.table.copy_(move_to_device(torch.tensor(list_table(step)), self.table.device))

    def __call__(
        self, x: Float[Tensor, "R d_model"], step: StepTensors
    ) -> Float[Tensor, "R d_model"]:
        """Compute the states of R hypotheses, and cache their keys and values."""
        self.fill(x, step)
        self.graph.replay()
        return self.states[: len(x)].clone()


@final
@dataclass
class DecodingGraphs:
    """CUDA graphs of one decoder's layers in decoding steps; its weights must not be replaced."""

    graphs: dict[tuple[int, int], LayersGraph | None] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)  # a graph computes one step at a time

    def __call__(
        self,
        decoder: Iterable[StepLayer],
        x: Float[Tensor, "R d_model"],
        step: Iterable[LayerCache],
    ) -> Float[Tensor, "R d_model"]:
        """Compute the last layer's states of R hypotheses' newest tokens, and cache the tokens."""
        if not isinstance(step, CacheStep):  # the plain cache
            return run_layers(decoder, x, step)
        shape = round_up_sentences(step.tensors.memory_mask.shape[0]), step.tensors.visible.shape[1]
        with self.lock:
            if graph := self.graphs.get(shape):
                return graph(x, step.tensors)
            states = run_layers(decoder, x, step)
            if shape not in self.graphs and len(self.graphs) < MOST_GRAPHS:
                self.graphs[shape] = graph = build_graph(decoder, x, step.tensors, states)
                return graph.first if graph else states
        return states


def build_graph(
    decoder: Iterable[StepLayer], x: Tensor, step: StepTensors, states: Tensor
) -> LayersGraph | None:
    """Return the layers' CUDA graph; None if capture fails or its output is far from `states`."""
    try:
        graph = LayersGraph(decoder, x, step)
    except Exception:  # noqa: BLE001 - an operator that no graph can hold, or no kernel for it
        return None
    is_same = (graph.first - states).norm() <= NEAR * states.norm()
    return graph if is_same else None


def round_up_sentences(sentences: int) -> int:
    """Round up to a power of two or 3/4 of one, that is 1, 2, 3, 4, 6, 8, 12, 16 and so on."""
    power = 1 << (sentences - 1).bit_length()
    return power // 4 * 3 if power >= 4 and sentences <= power // 4 * 3 else power
