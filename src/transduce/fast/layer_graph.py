"""The layers of a decoding step as one graph, without Python between the operators

On a CPU it is a graph of TorchScript. A step for few sentences makes several hundred small calls,
and most spend more time in Python than in their kernels (decision 0043). The graph calls the same
operators on the same tensors, in the same order, so the states are equal to the bit.

On a GPU it is a CUDA graph, which a single call starts. A step for few sentences is a hundred
kernels of a few microseconds. A graph serves all steps with the same number of hypotheses, whatever
their lengths, because its kernels read the addresses of the cache from a table. The number of
sentences is rounded up, and the surplus results are dropped.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from threading import Lock
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.errors import find_spent_address_space
from transduce.fast.compiled_loops import MANY_ROWS, has_rows_for_loops
from transduce.fast.kv_cache import AttendCached, CacheStep, StepTensors, attend_by_loops_if_faster
from transduce.machine.process_settings import release_freed_memory
from transduce.packed import move_to_device
from transduce.paper.operations import LayerCache, StepLayer, run_layers

# S sentences · W hypotheses of each · R = S W rows

RunTensors = Callable[..., Tensor]  # layers or their graph: x and the tensors of a step → states


class StepKind(StrEnum):
    """Kinds of decoding step on a CPU that use different kernels; each has its own graph."""

    FEW_ROWS = "few rows"
    MANY_ROWS = "many rows"
    COMPILED_LOOPS = "many rows by compiled loops"


# Plain steps before a graph is traced, so that it is likely to save more than tracing costs. With
# many rows a step gains less, and tracing keeps more memory (decision 0043).
STEPS_BEFORE = {StepKind.FEW_ROWS: 100, StepKind.MANY_ROWS: 1000, StepKind.COMPILED_LOOPS: 1000}


def find_kind(x: Float[Tensor, "R d_model"], attend: AttendCached) -> StepKind:
    """Return the `StepKind` of a decoding step, by its number of rows and attention function."""
    if attend is attend_by_loops_if_faster and has_rows_for_loops(x, x.shape[0]):
        return StepKind.COMPILED_LOOPS
    return StepKind.MANY_ROWS if x.shape[0] >= MANY_ROWS else StepKind.FEW_ROWS


@final
class LayerGraph:
    """Runs a decoder's layers in decoding steps on a CPU; traces a graph of them after some steps.

    Once a graph is traced, weights and modules must not be replaced. No graph is used with a plain
    cache, if torch cannot trace the layers, or if the graph's first states differ from theirs.
    """

    def __init__(self, decoder: Iterable[StepLayer]) -> None:
        self.decoder = decoder
        self.steps_left = dict(STEPS_BEFORE)
        self.graphs: dict[StepKind, RunTensors | None] = {}

    def __call__(
        self,
        decoder: Iterable[StepLayer],
        x: Float[Tensor, "R d_model"],
        step: Iterable[LayerCache],
    ) -> Float[Tensor, "R d_model"]:
        """Compute the last layer's states of R hypotheses' newest tokens, and cache the tokens."""
        assert decoder is self.decoder, "a graph holds the weights of one decoder"
        if spent := find_spent_address_space():  # oneDNN's kernels for new shapes would crash
            raise spent
        if not isinstance(step, CacheStep):  # the plain cache
            return run_layers(decoder, x, step)
        kind = find_kind(x, step.attend)
        graph = self.graphs.get(kind)
        if graph is not None:
            return graph(x, *step.tensors)
        states = run_layers(decoder, x, step)
        self.steps_left[kind] -= 1
        if self.steps_left[kind] <= 0 and kind not in self.graphs:
            self.graphs[kind] = trace_layers(DecoderLayers(decoder, step.attend), x, step, states)
        return states


@final
class DecoderLayers(nn.Module):
    """A module that runs a decoder's layers for one step, with only tensors as arguments."""

    def __init__(self, decoder: Iterable[StepLayer], attend: AttendCached) -> None:
        super().__init__()
        self.decoder, self.attend = decoder, attend

    def forward(self, x: Float[Tensor, "R d_model"], *step: Tensor) -> Float[Tensor, "R d_model"]:
        """Return the last layer's states of R hypotheses; `step` is `StepTensors` unpacked."""
        return run_layers(self.decoder, x, CacheStep(StepTensors(*step), self.attend))


def trace_layers(
    layers: DecoderLayers,
    x: Float[Tensor, "R d_model"],
    step: CacheStep,
    states: Float[Tensor, "R d_model"],
) -> RunTensors | None:
    """Return a graph of the layers; None if tracing fails or the graph does not return `states`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch says that it will not develop TorchScript
            traced = torch.jit.trace(
                layers, (x, *step.tensors), check_trace=False, _store_inputs=False
            )
        release_freed_memory()  # tracing keeps all that a step computes
        run = partial(run_unoptimised, traced)
        return run if torch.equal(run(x, *step.tensors), states) else None
    except RuntimeError:
        return None


def run_unoptimised(traced: RunTensors, *tensors: Tensor) -> Tensor:
    """Run a graph without torch's optimisations, which fuse products and so change rounding."""
    with torch.jit.optimized_execution(should_optimize=False):  # type: ignore[attr-defined]
        return traced(*tensors)


# --- A GPU ----------------------------------------------------------------------------------------

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
