"""A whole update of the base model at the paper's batch, a step faster from rung to rung."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import median
from typing import Any

import torch

from benchmarks.on_gpu.scale import BIG, Cases, Figures, Scale, lengths, milliseconds
from benchmarks.padded_attention import PaddedAttention
from transduce.fast.blocks import BucketedAttention
from transduce.fast.choose import choose_attention, choose_loss, equip_for_training
from transduce.fast.compiling import compile_layers
from transduce.fast.flat_adam import FlatAdam
from transduce.fast.varlen import VarlenAttention
from transduce.packed import Batch, Packed
from transduce.paper.model import (
    AddDropout,
    CrossAttention,
    Dropout,
    SelfAttention,
    build_transformer,
)
from transduce.paper.operations import AttentionMask, BatchAttention
from transduce.paper.training import batch_loss, update_weights
from transduce.settings import Architecture, Training

BuildAttention = Callable[..., BatchAttention]  # of lengths, a mask and a device
UPDATES = 4  # different ones in a turn


class UpdateVariant:
    """A model, its optimiser and the updates of a turn."""

    def __init__(
        self,
        scale: Scale,
        *,
        kernel: BuildAttention | None = None,
        **settings: Any,  # noqa: ANN401 - those of `Training`
    ) -> None:
        self.scale = scale
        self.training = Training(precision="bfloat16", **settings)
        self.model = build_transformer(scale.sizes, scale.symbols, scale.symbols, 1)
        equip_for_training(self.model.to(scale.device), replace(self.training, compile=False))
        if kernel:
            self.use_attention(kernel)
        if self.training.compile:
            loss = choose_loss(scale.device, torch.bfloat16, compiled=True)
            self.model.operations = replace(self.model.operations, smoothed_loss=loss)
        self.optimiser = FlatAdam(self.model, self.training)
        self.batches = [build_batch(scale, number) for number in range(UPDATES)]
        self.real = sum(count_tokens(batch) for batch in self.batches)
        self.needed = sum(count_operations(scale, batch) for batch in self.batches)

    def use_attention(self, kernel: BuildAttention) -> None:
        """Compute attention by another kernel."""
        attention = partial(kernel, device=self.scale.device)
        self.model.operations = replace(self.model.operations, attention=attention)

    def disable_dropout(self) -> None:
        """So that losses of several ways can be compared."""
        for module in self.model.modules():
            if isinstance(module, Dropout | AddDropout):
                module.p = 0.0
            if isinstance(module, SelfAttention | CrossAttention):
                module.dropout = 0.0

    def turn(self, *, reads: bool = True) -> None:
        """All updates, each read before the next is queued, as the loop does it."""
        for number, batch in enumerate(self.batches, start=1):
            queued = update_weights(self.model, self.optimiser, self.training, number, [batch])
            if reads and queued:
                queued.read()

    def measured(self, work: Callable[[], object] | None = None, updates: int = UPDATES) -> Figures:
        """Time, tokens and useful operations of one update, and memory."""
        if self.scale.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        seconds = [s / updates for s in self.scale.timed(work or self.turn)]
        share = UPDATES * median(seconds)
        gpu = self.scale.device.type == "cuda"
        return {
            **milliseconds(seconds),
            "source + target tokens/s": self.real / share,
            "TFLOP/s": self.needed / share / 1e12,
            "GB": torch.cuda.max_memory_allocated() / 1e9 if gpu else 0.0,
        }


def cases(scale: Scale) -> Cases:
    """From what most programs do to what this one can; the riskiest last."""
    yield "padded to one rectangle, torch's attention", partial(measure_padded, scale)
    yield (
        "packed, attention in rectangles",
        lambda: UpdateVariant(scale, kernel=BucketedAttention).measured(),
    )
    yield (
        "packed, torch's variable-length attention",
        lambda: UpdateVariant(scale, kernel=VarlenAttention).measured(),
    )
    yield "packed, attention that fits", lambda: UpdateVariant(scale).measured()
    yield "the same, nobody reads what an update did", partial(measure_without_reading, scale)
    yield "and compiled", partial(measure_compiled, scale)
    yield "and fixed shapes", partial(measure_compiled, scale, pad_to_tokens=scale.pad_to_tokens)
    yield (
        "and compiled for these shapes alone",
        partial(measure_compiled, scale, pad_to_tokens=scale.pad_to_tokens, dynamic=False),
    )
    yield (
        "packed and fixed shapes as one graph, one batch again and again",
        partial(measure_cuda_graph, scale),
    )
    yield (
        "compiled, fixed shapes, torch's own graphs",
        partial(
            measure_compiled,
            scale,
            pad_to_tokens=scale.pad_to_tokens,
            dynamic=False,
            mode="reduce-overhead",
        ),
    )


def cases_of_big(scale: Scale) -> Cases:
    """The big model: plain, compiled, and compiled for fixed shapes."""
    big = scale if scale.rehearsed else scale.with_sizes(BIG)
    yield "big: packed, attention that fits", lambda: UpdateVariant(big).measured()
    yield "big: and compiled", partial(measure_compiled, big)
    yield (
        "big: and compiled for fixed shapes",
        partial(measure_compiled, big, pad_to_tokens=scale.pad_to_tokens, dynamic=False),
    )


def measure_padded(scale: Scale) -> Figures:
    """Every sentence as long as the longest of its update, padding embedded and lost like words."""
    rung = UpdateVariant(scale, kernel=PaddedAttention)
    rung.batches = [pad_batch(batch) for batch in rung.batches]
    return rung.measured()


def measure_without_reading(scale: Scale) -> Figures:
    """What it costs to wait for an update's numbers."""
    rung = UpdateVariant(scale)
    return rung.measured(lambda: rung.turn(reads=False))


def measure_compiled(
    scale: Scale, *, pad_to_tokens: int = 0, mode: str = "default", dynamic: bool = True
) -> Figures:
    """Layers and slices of the loss as compiled code."""
    torch.compiler.reset()
    rung = UpdateVariant(scale, compile=True, pad_to_tokens=pad_to_tokens)
    compile_layers(rung.model, mode=mode, dynamic=dynamic)
    return rung.measured()


def measure_cuda_graph(scale: Scale) -> Figures:
    """All kernels of an update started at once: the most that graphs could gain."""
    rung = UpdateVariant(scale, pad_to_tokens=scale.pad_to_tokens)
    rung.use_attention(cache_kernel(scale))
    rung.batches = [rung.batches[0].to(scale.device).pad_to_multiple(scale.pad_to_tokens)]
    rung.real = UPDATES * count_tokens(rung.batches[0])
    rung.needed = UPDATES * count_operations(scale, rung.batches[0])
    shifted, positions = Packed.shift_right, Packed.compute_positions
    # what the host lays out must stay where the graph found it
    Packed.shift_right, Packed.compute_positions = cache(shifted), cache(positions)  # type: ignore[method-assign]
    try:
        return rung.measured(replay(rung), updates=1)
    finally:
        Packed.shift_right, Packed.compute_positions = shifted, positions  # type: ignore[method-assign]


def replay(rung: UpdateVariant) -> Callable[[], None]:
    """An update, captured; what is called starts it again."""
    rung.model.train()

    def update() -> None:
        rung.optimiser.clear_gradients()
        loss, _ = batch_loss(rung.model, rung.training, rung.batches[0])
        (loss / len(rung.batches[0].target.ids)).backward()
        norm = rung.optimiser.gradients.norm()
        rung.optimiser.update(1e-4, (~torch.isfinite(norm + loss)).float())

    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(3):
            update()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        update()
    return graph.replay


def cache_kernel(scale: Scale) -> BuildAttention:
    """The way to attend that fits, prepared once for the same lengths."""
    chosen = choose_attention(scale.sizes, scale.device, torch.bfloat16)

    @cache
    def prepared(
        queries: Sequence[int], keys: Sequence[int], mask: AttentionMask, device: torch.device
    ) -> BatchAttention:
        return chosen(queries, keys, mask, device)

    return prepared


def build_batch(scale: Scale, number: int) -> Batch:
    """Pairs of near-equal length, as the plan puts them together.

    Numbers of sentences and longest lengths round up to the same, so that fixed shapes are one.
    """
    draws = torch.Generator().manual_seed(number)
    source, target = lengths(scale.tokens, 30, 0.05, number)
    sides = (
        Packed(torch.randint(2, scale.symbols, (sum(side),), generator=draws), tuple(side))
        for side in (source, target)
    )
    return Batch(*sides)


def pad_batch(batch: Batch) -> Batch:
    """The same number of sentences, all as long as the longest."""
    sides = []
    for side in (batch.source, batch.target):
        longest, count = max(side.lengths), len(side.lengths)
        ids = side.ids.repeat(2 + longest * count // len(side.ids))[: longest * count]
        sides.append(Packed(ids, (longest,) * count))
    return Batch(*sides)


def count_tokens(batch: Batch) -> int:
    """Of both sides."""
    return len(batch.source.ids) + len(batch.target.ids)


def count_operations(scale: Scale, batch: Batch) -> int:
    """The products with weights that real tokens need, forward and twice back."""
    sizes: Architecture = scale.sizes
    projections = 4 * sizes.d_model * sizes.heads * (sizes.d_k + sizes.d_v)
    feed_forward = 4 * sizes.d_model * sizes.d_ff
    source = sizes.layers * (projections + feed_forward + projections // 2)
    target = sizes.layers * (projections + projections // 2 + feed_forward)
    target += 2 * sizes.d_model * scale.symbols
    return 3 * (source * len(batch.source.ids) + target * len(batch.target.ids))
