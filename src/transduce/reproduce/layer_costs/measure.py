"""Measure every kind of layer in Table 1 at every size of a plan: operations, time, memory, paths.

Every operation of torch is intercepted as it is dispatched. A multiply-add counts as two
operations. Matrix products and the products with a separable convolution's kernels are counted. As
in the paper's table, softmax, gates, masks and plain sums are not.

In a chain of dependent operations, each operation needs the result of the one before. As in the
paper, an operation of torch (a product, a sum over a dimension) counts as one, however large its
tensors are, so that a chain of O(1) does not grow with the sentence. Views are not counted.

The peak memory is the most bytes of tensors alive at once. It includes tensors kept for the
backward pass, but not the temporary memory of an operation while the operation runs.

If a layer computes all positions at once, the maximum path length is the smallest
number of layers after which every output depends on every input (in a decoder: on every input up to
its position). Gradients show it. In a recurrent layer, it is the number of states through which the
gradient of the last output flows back to the first input, the states of the first and the last
position included.
"""

import math
import statistics
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, final

import torch
from torch import Tensor, UntypedStorage
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from transduce.inference.evaluate import today
from transduce.machine.environment import describe_environment
from transduce.machine.limits import memory_bytes
from transduce.mixing import RecurrentLayer
from transduce.paper.model import initialise
from transduce.reproduce.layer_costs.layers import (
    EXACT,
    HEADS,
    LAYER_KINDS,
    LayerKind,
    MeasuredLayer,
    build_layer,
    build_sizes,
    calculate_operations,
    compute_reach_per_side,
)
from transduce.settings import Architecture
from transduce.settings.fields import require

WIDE = 16  # the width d at which paths are measured; their lengths do not depend on it
SCORES = 5  # about how many copies of the n x n attention scores are in memory at once


@final
@dataclass(frozen=True, kw_only=True)
class MeasurementPlan:
    """The sentence lengths n and widths d at which the layers of Table 1 are measured.

    All n are measured at the median d, and all d at the median n.
    """

    n: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048)  # sentence lengths
    d: tuple[int, ...] = (64, 128, 256, 512, 1024)  # widths of the layer
    paths: tuple[int, ...] = (8, 16, 32, 64)  # sentence lengths at which paths are measured
    k: int = 3  # width of a convolution's kernel
    r: int = 17  # positions in the neighbourhood of restricted attention
    rounds: int = 7  # how often each layer is timed at each size

    def __post_init__(self) -> None:
        for name, sizes in (("n", self.n), ("d", self.d)):
            hint = f"such as --{name} {','.join(map(str, getattr(type(self), name)))}"
            require(len(set(sizes)) > 1, f"--{name}: growth needs at least two sizes", hint)
            require(min(sizes) > 1, f"--{name}: sizes are at least 2, not {min(sizes)}", hint)
        for d in self.d:
            fact = f"--d {d}: there are {HEADS} heads of d / {HEADS} numbers each"
            require(d % HEADS == 0, fact, f"a multiple of {HEADS}")
        for name, wide in (("k", self.k), ("r", self.r)):
            require(wide > 2, f"--{name} {wide} reaches no other position", "3 is the narrowest")
            require(
                wide % 2 == 1, f"--{name} must be odd, not {wide}", "it is centred on a position"
            )
        hint = "such as paths=(8, 16)"
        require(bool(self.paths), "paths: no length is given", hint)
        shortest = min(self.paths)
        require(shortest > 0, f"paths: lengths are at least 1, not {shortest}", hint)
        require(self.rounds > 0, f"rounds must be more than 0, not {self.rounds}")
        needed, there = SCORES * HEADS * 4 * max(self.n) ** 2, memory_bytes()
        require(
            needed < there,
            f"--n {max(self.n)}: self-attention needs about {needed / 2**30:,.0f} GiB, "
            f"and this machine has {there / 2**30:,.0f}",
            "take a shorter sentence",
        )

    @property
    def middle(self) -> tuple[int, int]:
        """The upper median of the lengths n, and that of the widths d; both are measured sizes."""
        n, d = sorted(self.n), sorted(self.d)
        return n[len(n) // 2], d[len(d) // 2]

    def points(self) -> list[tuple[int, int]]:
        """Return the distinct pairs (sentence length n, width d) at which layers are measured."""
        n, d = self.middle
        pairs = [(one, d) for one in sorted(self.n)] + [(n, one) for one in sorted(self.d)]
        return list(dict.fromkeys(pairs))


QUICK = MeasurementPlan(n=(96, 192, 384), d=(32, 64, 128), paths=(4, 8, 16), r=5, rounds=3)


@final
@dataclass(frozen=True, kw_only=True)
class MeasuredPoint:
    """A layer's measured costs at one size: operations, their longest chain, time, memory."""

    n: int  # length of the sentence
    d: int  # width of the layer
    operations: int  # operations without the projections, counted by torch
    by_hand: int  # operations without the projections, by formula
    projections: int  # operations of the projections, counted by torch
    projections_by_hand: int  # operations of the projections, by formula
    chain: int  # length of the longest chain of dependent operations
    seconds: float  # median time of a forward and backward pass
    quickest: float  # shortest time of a forward and backward pass, in seconds
    peak: int  # most bytes of tensors alive at once in a forward and backward pass

    @property
    def with_projections(self) -> int:
        """The operations of the whole layer, counted by torch."""
        return self.operations + self.projections


@final
@dataclass(frozen=True)
class PowerLaw:
    """The power of a fitted law y ≈ c · x^power, and the power's standard error."""

    power: float
    error: float  # standard error; 0 for two points, where the fit is exact

    def __str__(self) -> str:
        return f"{self.power:.2f}"


def fit_power_law(xs: Sequence[int | float], ys: Sequence[int | float]) -> PowerLaw:
    """Fit y ≈ c · x^power by log-log least squares; return the power and its standard error."""
    u, v = [math.log(x) for x in xs], [math.log(y) for y in ys]
    power, constant = statistics.linear_regression(u, v)
    residual = sum((b - power * a - constant) ** 2 for a, b in zip(u, v, strict=True))
    spread = statistics.pvariance(u) * len(u)
    return PowerLaw(power, math.sqrt(residual / (len(u) - 2) / spread) if len(u) > 2 else 0.0)


@final
@dataclass(frozen=True, kw_only=True)
class MeasuredPath:
    """A stack's maximum path length between any two of n positions, measured and by formula."""

    stack: str  # encoder or decoder
    n: int  # number of positions
    length: int  # path length measured by gradients
    by_hand: int  # path length by formula


@final
@dataclass(frozen=True)
class LayerRow:
    """A row of the measured Table 1: the costs and path lengths of one kind of layer."""

    kind: LayerKind
    points: tuple[MeasuredPoint, ...]
    paths: tuple[MeasuredPath, ...]
    plan: MeasurementPlan

    @property
    def matches_formula(self) -> bool:
        """Whether all measured path lengths of this kind of layer agree with the formula."""
        return all(path.length == path.by_hand for path in self.paths)

    @property
    def middle_point(self) -> MeasuredPoint:
        """The costs at the median n and the median d."""
        return next(p for p in self.points if (p.n, p.d) == self.plan.middle)

    def points_along(self, letter: str) -> list[MeasuredPoint]:
        """Return the points sorted by `letter`, "n" or "d", with the other one at its median."""
        other, median = ("d", self.plan.middle[1]) if letter == "n" else ("n", self.plan.middle[0])
        found = (point for point in self.points if getattr(point, other) == median)
        return sorted(found, key=attrgetter(letter))

    def fit_power(self, letter: str, value: Callable[[MeasuredPoint], float]) -> PowerLaw:
        """Fit value(point) ≈ c · n^power, or c · d^power if `letter` is "d", along that letter."""
        points = self.points_along(letter)
        return fit_power_law([getattr(p, letter) for p in points], [value(p) for p in points])


@final
@dataclass(frozen=True)
class LayerTable:
    """The measured Table 1: a row for each kind of layer, the sizes, the machine and the date."""

    rows: tuple[LayerRow, ...]
    plan: MeasurementPlan
    environment: dict[str, str]
    date: str


def measure_layers(plan: MeasurementPlan, on_message: Callable[[str], None]) -> LayerTable:
    """Measure all kinds of layers at the sizes in `plan`; pass each kind's name to `on_message`."""
    rows = []
    for kind in LAYER_KINDS:
        on_message(kind.name)
        points = tuple(measure_point(kind, n, d, plan) for n, d in plan.points())
        rows.append(LayerRow(kind, points, tuple(measure_paths(kind, plan)), plan))
    return LayerTable(tuple(rows), plan, describe_environment(torch.device("cpu")), today())


def measure_paths(kind: LayerKind, plan: MeasurementPlan) -> Iterator[MeasuredPath]:
    """Yield the encoder's maximum path length at each n in `plan.paths`, then the decoder's."""
    sizes = build_sizes(kind, WIDE, plan.k, plan.r)
    for stack, causal in (("encoder", False), ("decoder", True)):
        reach = compute_reach_per_side(kind, sizes, causal=causal)
        for n in plan.paths:
            length = measure_path_length(n, sizes, causal=causal)
            yield MeasuredPath(stack=stack, n=n, length=length, by_hand=kind.path(n, reach))


def measure_point(kind: LayerKind, n: int, d: int, plan: MeasurementPlan) -> MeasuredPoint:
    """Measure a layer's operations, longest chain, time and memory at length n and width d."""
    sizes = build_sizes(kind, d, plan.k, plan.r)
    exact = build_layer(n, sizes, dtype=EXACT)
    operations, projections = count_operations(exact)
    by_hand, projections_by_hand = calculate_operations(n, sizes)
    chain = measure_longest_chain(exact, exact.random_sentence(EXACT))
    update = build_layer(n, sizes).build_update()
    peak = measure_peak_bytes(update)
    rounds = [measure_seconds(update) for _ in range(plan.rounds)]
    return MeasuredPoint(
        n=n,
        d=d,
        operations=operations,
        by_hand=by_hand,
        projections=projections,
        projections_by_hand=projections_by_hand,
        chain=chain,
        seconds=statistics.median(rounds),
        quickest=min(rounds),
        peak=peak,
    )


def measure_seconds(run: Callable[[], None]) -> float:
    """Call a function and return the seconds that the call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# --- One layer ------------------------------------------------------------------------------------


@torch.no_grad()
def count_operations(layer: MeasuredLayer) -> tuple[int, int]:
    """Return the operations of a forward pass as (without projections, projections alone).

    The projections are W^Q, W^K, W^V and W^O of self-attention.
    """
    x = layer.random_sentence(EXACT)
    rules = {torch.ops.aten.addcmul: count_addcmul_operations}
    with FlopCounterMode(display=False, custom_mapping=rules) as counter:
        layer(x)
    total = counter.get_total_flops()
    projections = sum(
        sum(found.values())
        for name, found in counter.get_flop_counts().items()
        if name in ("SelfAttention.query_key_value", "SelfAttention.output")
    )
    return total - projections, projections


def count_addcmul_operations(*_shapes: Any, out_shape: tuple[int, ...], **_: Any) -> int:  # noqa: ANN401
    """Return addcmul's operations: a multiplication and an addition for each output element."""
    return 2 * math.prod(out_shape)


@torch.no_grad()
def measure_longest_chain(run: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """Return the number of operations in the longest chain of dependent operations of run(x)."""
    with OperationRecorder() as chains:
        last = run(x)
    return chains.depth[last.untyped_storage().data_ptr()]


def measure_peak_bytes(run: Callable[[], object]) -> int:
    """Call a function twice; return the most bytes of new tensors alive in the second call.

    The first call allocates tensors that persist, such as gradients.
    """
    run()
    with OperationRecorder() as memory:
        run()
    return memory.peak


@final
class OperationRecorder(TorchDispatchMode):
    """A torch mode that records operation-chain lengths (`depth`) and peak bytes (`peak`).

    `depth` has the length of the chain that leads to a tensor, by the tensor's address; `peak` is
    the most bytes of new tensors alive at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.depth: dict[int, int] = {}
        self.live_bytes: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self,
        operation: Any,  # noqa: ANN401 - as torch calls it
        _types: Any,  # noqa: ANN401
        arguments: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        given = list_storages(arguments, named)
        before = max((self.depth.get(address, 0) for address in given), default=0)
        known = {*given, *self.live_bytes}
        del given  # else its storages would live during the operation
        made = operation(*arguments, **(named or {}))
        for address, storage in list_storages(made).items():
            self.depth[address] = before + (0 if operation.is_view else 1)
            if address not in known:
                self.live_bytes[address] = storage.nbytes()
                weakref.finalize(storage, self.live_bytes.pop, address, None)
        self.peak = max(self.peak, sum(self.live_bytes.values()))
        return made


def list_storages(*values: Any) -> dict[int, UntypedStorage]:  # noqa: ANN401 - what operations take
    """Return the storages of all tensors in nested values, by address; views share a storage."""
    tensors = (one for one in tree_leaves(values) if isinstance(one, Tensor))
    return {one.untyped_storage().data_ptr(): one.untyped_storage() for one in tensors}


# --- Path lengths ---------------------------------------------------------------------------------


def measure_path_length(n: int, sizes: Architecture, *, causal: bool) -> int:
    """Return the maximum path length between n positions in layers, or in states for an LSTM.

    If `causal`, the layers are a decoder's.
    """
    if sizes.mixing == "recurrent":
        return count_states_passed(n, sizes)
    x = y = build_layer(n, sizes, dtype=EXACT).random_sentence(EXACT)
    for index in range(n):
        y = build_layer(n, sizes, index, dtype=EXACT, causal=causal)(y)
        if has_full_dependence(y, x, causal=causal):
            return index + 1
    raise AssertionError("every layer reaches the next position at least")


def has_full_dependence(y: Tensor, x: Tensor, *, causal: bool) -> bool:
    """Return whether every row of y depends on all rows of x (if `causal`, on those up to it)."""
    last = len(y) - 1
    positions = [last, *range(last)]  # the last has the longest path
    for i in positions:
        (gradient,) = torch.autograd.grad(y[i].sum(), x, retain_graph=True)
        if not gradient[: i + 1 if causal else None].ne(0).any(dim=1).all():
            return False
    return True


def count_states_passed(n: int, sizes: Architecture) -> int:
    """Return how many states an LSTM's gradient passes from output n to input 1, ends included."""
    layer = RecurrentLayer(sizes.d_model, causal=True).to(EXACT)
    initialise(layer, torch.Generator().manual_seed(0))
    x = torch.randn(n, 1, sizes.d_model, dtype=EXACT).requires_grad_()
    state, states = None, []
    for vector in x[:-1]:
        _, state = layer.lstm(vector, state)
        states += state
    last, _ = layer.lstm(x[-1], state)
    x_gradient, *gradients = torch.autograd.grad(last.sum(), [x, *states])
    assert x_gradient[0].any(), "the last output depends on the first input"
    passed = [h.any() or c.any() for h, c in zip(gradients[::2], gradients[1::2], strict=True)]
    return sum(map(bool, passed)) + 1
