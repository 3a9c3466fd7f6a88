"""The gradients of a micro-batch on a GPU as one CUDA graph, which a single call starts

A GPU computes the 800 kernels of a base model's update faster than Python starts them. A graph
serves all batches of one shape: the token counts, which padding sentences round up, and the number
of sentences and the longest length, both rounded up to powers of two. The first batch of a shape is
computed without a graph. The second is computed both ways, and the graph is kept if the results
agree. Dropout draws the same numbers either way.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transduce.errors import InputError
from transduce.fast.flat_adam import FlatAdam
from transduce.fast.loss import PADDING
from transduce.fast.varlen import FixedLengths, compute_offsets, round_up_to_power_of_two
from transduce.packed import Batch, Packed
from transduce.paper.model import Transformer
from transduce.paper.operations import SmoothedLoss, keep_batch
from transduce.paper.training import add_gradients
from transduce.settings import Training

# T tokens of a side, padding included · n numbers that a graph reads of a batch

LEAST_MULTIPLE = 64  # of tokens, for the products in bfloat16
SHAPES_AN_OCTAVE = 16  # sizes of a side between n and 2 n tokens; at most a 16th is padding
MOST_GRAPHS = 256  # each keeps some megabytes on the device
SHARE_OF_MEMORY = 0.4  # of the device for a micro-batch at most; a graph needs as much again
NEAR = 0.02  # the largest relative distance of gradients, as some kernels add in any order


class Shape(NamedTuple):
    """The sizes that all micro-batches of one CUDA graph share."""

    tokens: tuple[int, ...]  # number of tokens of source and target
    longest: tuple[int, ...]  # tokens of the longest source and target sentence, rounded up
    offsets: int  # number of offsets of each side; see `compute_offsets`
    overwritten: int = 0  # how many gradients the micro-batch overwrites; it adds to the others

    @property
    def parts(self) -> list[int]:
        """The lengths of a graph's inputs: ids, positions and offsets of each side, then labels."""
        source, target = self.tokens
        return [source, source, self.offsets, target, target, self.offsets, target]


@dataclass(frozen=True)
class LaidOutBatch(Batch):
    """A micro-batch in main memory, with its padded form as one tensor that a CUDA graph reads."""

    shape: Shape
    numbers: Int[Tensor, " n"]

    def to(self, device: torch.device | str) -> "LaidOutBatch":  # noqa: ARG002 - a graph copies
        """Return the batch itself; a graph copies `numbers` to the device."""
        return self


def lay_out(batch: Batch, pad: Callable[[Batch], Batch]) -> LaidOutBatch:
    """Return `batch` with its padded ids, positions, offsets and labels in one pinned tensor."""
    if isinstance(batch, LaidOutBatch):
        return batch
    padded = pad(batch)
    sides = padded.source, padded.target
    offsets = [compute_offsets(side.lengths) for side in sides]
    longest = tuple(round_up_to_power_of_two(max(side.lengths)) for side in sides)
    shape = Shape(tuple(len(side.ids) for side in sides), longest, len(offsets[0]))
    parts = [
        part
        for side, starts in zip(sides, offsets, strict=True)
        for part in (side.ids, side.compute_positions(), starts)
    ]
    labels = padded.target.ids.clone()
    labels[len(batch.target.ids) :] = PADDING
    numbers = torch.cat([*parts, labels]).int()
    return LaidOutBatch(batch.source, batch.target, shape, numbers.pin_memory())


def pad_to_few_shapes(batch: Batch, *, longest: int) -> Batch:
    """Return a batch with token counts padded to multiples of 2^i, so that few shapes occur.

    2^i is the largest power of two up to a 16th of the larger count, but at least 64. No padding
    sentence is longer than `longest` tokens or than either side's longest sentence, because the
    longest sentence decides how long attention takes.
    """
    sides = batch.source, batch.target
    tokens = max(len(side.ids) for side in sides)
    multiple = 1 << (tokens // SHAPES_AN_OCTAVE).bit_length() >> 1
    longest = min(longest, *(max(side.lengths) for side in sides))
    return batch.pad_to_multiple(max(LEAST_MULTIPLE, multiple), longest)


@dataclass(frozen=True)
class FixedSide(Packed):
    """The source or target of a batch, whose tensors stay at the addresses that a graph reads."""

    positions: Int[Tensor, " T"]

    def shift_right(self, begin: int) -> "FixedSide":
        """Return the side with `begin` before each sentence and without each sentence's last id."""
        return replace(self, ids=self.ids.roll(1).masked_fill(self.positions == 0, begin))

    def compute_positions(self) -> Int[Tensor, " T"]:
        """Return the position of each of the T tokens in its own sentence."""
        return self.positions


@final
class GradientGraph:
    """A CUDA graph that adds the gradients of micro-batches of one `Shape`."""

    def __init__(self, optimiser: FlatAdam, shape: Shape) -> None:
        self.optimiser, device = optimiser, optimiser.weights.device
        self.numbers = torch.zeros(sum(shape.parts), dtype=torch.int32, device=device)
        *parts, self.labels = self.numbers.split(shape.parts)
        self.source, self.target = (
            FixedSide(ids, FixedLengths.build(longest, offsets), positions)
            for longest, ids, positions, offsets in zip(
                shape.longest, parts[::3], parts[1::3], parts[2::3], strict=True
            )
        )
        self.target_tokens = torch.ones((), dtype=torch.float64, device=device)
        self.graph, self.sums, self.written = torch.cuda.CUDAGraph(), self.target_tokens, set[int]()

    def capture(
        self,
        model: Transformer,
        training: Training,
        pool: Any,  # noqa: ANN401 - torch has no public type for it
    ) -> None:
        """Record a micro-batch's kernels; their memory comes from `pool`, which graphs share."""
        plain, stale = model.operations, set(self.optimiser.stale)
        loss = partial(compute_loss_of_labels, labels=self.labels, loss=plain.smoothed_loss)
        model.operations = replace(plain, pad_batch=keep_batch, smoothed_loss=loss)
        batch = Batch(self.source, self.target)
        try:
            with torch.cuda.graph(self.graph, pool=pool, capture_error_mode="thread_local"):
                self.sums = add_gradients(model, training, batch, self.target_tokens)
        finally:
            model.operations = plain
        self.written = stale - self.optimiser.stale
        self.optimiser.stale |= self.written

    def __call__(self, batch: LaidOutBatch, target_tokens: int) -> Float[Tensor, "2"]:
        """Add the gradients of a batch of this shape; return its loss and -log p."""
        self.numbers.copy_(batch.numbers, non_blocking=True)
        self.target_tokens.fill_(target_tokens)
        self.graph.replay()
        self.optimiser.stale -= self.written
        return self.sums.clone()


def compute_loss_of_labels(
    states: Tensor,
    weight: Tensor,
    _: Tensor,
    mass: float,
    bias: Tensor | None,
    *,
    labels: Tensor,
    loss: SmoothedLoss,
) -> tuple[Tensor, Tensor]:
    """Return the summed smoothed loss and summed -log p of `labels`; ignore the third argument."""
    return loss(states, weight, labels, mass, bias)


@final
@dataclass
class GradientGraphs:
    """CUDA graphs that add micro-batches' gradients, one for each shape that occurs twice.

    There are at most MOST_GRAPHS. Other micro-batches are computed without a graph.
    """

    optimiser: FlatAdam
    graphs: dict[Shape, GradientGraph] = field(default_factory=dict)
    seen: Counter[Shape] = field(default_factory=Counter)

    def __call__(
        self, model: Transformer, training: Training, batch: Batch, target_tokens: int
    ) -> Float[Tensor, "2"]:
        """Add the gradients of a micro-batch; return its loss and -log p (`add_gradients`)."""
        ready = lay_out(batch, model.operations.pad_batch)
        shape = ready.shape._replace(overwritten=len(self.optimiser.stale))
        self.seen[shape] += 1
        if graph := self.graphs.get(shape):
            return graph(ready, target_tokens)
        plain_batch = Batch(batch.source, batch.target)
        plain = partial(add_gradients, model, training, plain_batch, target_tokens)
        if self.seen[shape] != 2 or len(self.graphs) >= MOST_GRAPHS:
            return plain()
        graph = GradientGraph(self.optimiser, shape)
        pool = next((one.graph.pool() for one in self.graphs.values()), None)

        def capture_and_run() -> Tensor:
            graph.capture(model, training, pool)
            return graph(ready, target_tokens)

        sums, is_same = self.compare(plain, capture_and_run)
        if is_same:
            self.graphs[shape] = graph
        return sums

    def compare(
        self, plain: Callable[[], Tensor], other: Callable[[], Tensor]
    ) -> tuple[Float[Tensor, "2"], bool]:
        """Call both; return (loss, -log p) of `plain`, and whether losses and gradients agree.

        The gradients of `plain` are kept. If a micro-batch takes too much memory for a graph,
        `other` is not called, and the answer is False.
        """
        flat = self.optimiser.weights.grad
        assert flat is not None
        begin, stale = flat.clone(), set(self.optimiser.stale)
        draws = torch.cuda.get_rng_state(flat.device)
        torch.cuda.reset_peak_memory_stats(flat.device)
        sums = plain()
        memory = torch.cuda.get_device_properties(flat.device).total_memory
        if torch.cuda.max_memory_allocated(flat.device) > SHARE_OF_MEMORY * memory:
            return sums, False
        end, still_stale = flat.clone(), set(self.optimiser.stale)
        restore(self.optimiser, begin, stale)
        torch.cuda.set_rng_state(draws, flat.device)
        try:
            is_same = is_near(other(), sums) and is_near(flat, end)
        # memory runs out, no graph can hold an operator, or a rounded length has no position
        except (RuntimeError, InputError):
            is_same = False
        restore(self.optimiser, end, still_stale)
        return sums, is_same


def restore(optimiser: FlatAdam, gradients: Tensor, stale: set[int]) -> None:
    """Restore saved gradients and stale indices; delete gradients that a failed graph left."""
    assert optimiser.weights.grad is not None
    optimiser.weights.grad.copy_(gradients)
    optimiser.stale.clear()
    optimiser.stale |= stale
    for weight in optimiser.parameters:
        weight.grad = None


def is_near(found: Tensor, expected: Tensor) -> bool:
    """Return whether two tensors are equal up to rounding in bfloat16."""
    return bool((found - expected).norm() <= NEAR * expected.norm())
