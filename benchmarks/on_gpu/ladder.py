"""A whole update of the base model at the paper's batch, a step faster from rung to rung."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import torch

from benchmarks.on_gpu.scale import BIG, Cases, Figures, Scale, lengths, milliseconds
from benchmarks.padded_attention import PaddedAttention
from transduce.fast.blocks import BucketedAttention
from transduce.fast.choose import (
    choose_loop,
    choose_loss,
    equip_for_training,
    swap_classes,
)
from transduce.fast.compiling import compile_layers
from transduce.fast.flat_adam import FlatAdam
from transduce.fast.varlen import VarlenAttention
from transduce.packed import Batch, Packed
from transduce.paper.model import (
    AddDropout,
    CrossAttention,
    Dropout,
    Residual,
    SelfAttention,
    build_transformer,
)
from transduce.paper.operations import BatchAttention
from transduce.paper.training import PendingUpdate, add_gradients, update_weights
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
        fuses: bool = True,
        graphs: bool = True,
        **settings: Any,  # noqa: ANN401 - those of `Training`
    ) -> None:
        self.scale = scale
        self.training = Training(precision="bfloat16", **settings)
        self.model = build_transformer(scale.sizes, scale.symbols, scale.symbols, 1)
        equip_for_training(self.model.to(scale.device), replace(self.training, compile=False))
        if kernel:
            self.use_attention(kernel)
        if not fuses:
            swap_classes(self.model, {type(self.model.encoder[0].add_self): Residual})
        if self.training.compile:
            loss = choose_loss(scale.device, torch.bfloat16, compiled=True)
            self.model.operations = replace(self.model.operations, smoothed_loss=loss)
        self.optimiser = FlatAdam(self.model, self.training)
        self.batches = [build_batch(scale, number) for number in range(UPDATES)]
        self.real = sum(count_tokens(batch) for batch in self.batches)
        self.needed = sum(count_operations(scale, batch) for batch in self.batches)
        self.get, self.add, self.read = choose_loop(
            self.model, self.optimiser, self.training, self.read_batches
        )
        if kernel or not graphs:
            self.get, self.add = self.read_batches, add_gradients
            self.read = PendingUpdate.read

    def use_attention(self, kernel: BuildAttention) -> None:
        """Compute attention by another kernel."""
        attention = partial(kernel, device=self.scale.device)
        self.model.operations = replace(self.model.operations, build_attention=attention)

    def disable_dropout(self) -> None:
        """So that losses of several ways can be compared."""
        for module in self.model.modules():
            if isinstance(module, Dropout | AddDropout):
                module.p = 0.0
            if isinstance(module, SelfAttention | CrossAttention):
                module.dropout = 0.0

    def turn(self, *, reads: bool = True) -> list[float]:
        """Make all updates, each read before the next is queued, as the loop does; their losses."""
        losses = []
        for step in range(1, UPDATES + 1):
            queued = update_weights(
                self.model,
                self.optimiser,
                self.training,
                step,
                self.get(step),
                add_gradients=self.add,
            )
            if reads and queued:
                losses.append(self.read(queued).loss)
        return losses

    def read_batches(self, step: int) -> Sequence[Batch]:
        """Return the micro-batch of a step."""
        return [self.batches[step % UPDATES]]

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
    for name, kernel in (
        ("packed, attention in rectangles", BucketedAttention),
        ("packed, torch's variable-length attention", VarlenAttention),
    ):
        yield name, partial(measure, scale, kernel=kernel, fuses=False)
    yield "packed, Triton's attention", partial(measure, scale, fuses=False, graphs=False)
    yield "and Triton's norm of a sum", partial(measure, scale, graphs=False)
    yield "and as graphs: what `train` does", partial(measure, scale)
    yield "the same, nobody reads what an update did", partial(measure_without_reading, scale)
    yield "compiled instead", partial(measure_compiled, scale)


def cases_of_big(scale: Scale) -> Cases:
    """The big model: without graphs, with them, and compiled."""
    big = scale if scale.rehearsed else scale.with_sizes(BIG)
    yield "big: without graphs", partial(measure, big, graphs=False)
    yield "big: what `train` does", partial(measure, big)
    yield "big: compiled instead", partial(measure_compiled, big)


def measure(scale: Scale, **how: Any) -> Figures:  # noqa: ANN401 - those of a variant
    """A variant's figures."""
    return UpdateVariant(scale, **how).measured()


def measure_padded(scale: Scale) -> Figures:
    """Every sentence as long as the longest of its update, padding embedded and lost like words."""
    rung = UpdateVariant(scale, kernel=PaddedAttention)
    rung.batches = [pad_batch(batch) for batch in rung.batches]
    return rung.measured()


def measure_without_reading(scale: Scale) -> Figures:
    """What it costs to wait for an update's numbers."""
    rung = UpdateVariant(scale)
    return rung.measured(lambda: rung.turn(reads=False))


def measure_compiled(scale: Scale) -> Figures:
    """Layers and slices of the loss as compiled code."""
    torch.compiler.reset()
    rung = UpdateVariant(scale, compile=True, fuses=False)
    compile_layers(rung.model)
    return rung.measured()


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
