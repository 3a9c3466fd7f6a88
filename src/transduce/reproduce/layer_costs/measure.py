"""Measure every kind of layer in Table 1 at every size of a measurement plan."""

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import final

import torch

from transduce.machine.environment import describe_environment
from transduce.machine.limits import memory_bytes
from transduce.reproduce.layer_costs.layers import (
    EXACT,
    HEADS,
    LAYER_KINDS,
    LayerKind,
    build_layer,
    build_sizes,
    calculate_operations,
    compute_reach_per_side,
)
from transduce.reproduce.layer_costs.trace import (
    WIDE,
    count_operations,
    measure_longest_chain,
    measure_path_length,
    measure_peak_bytes,
)
from transduce.settings.fields import require

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

    def points_along(self, letter: str) -> list[MeasuredPoint]:
        """Return the points at the median d sorted by n, or for "d" those at the median n by d."""
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
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    where = describe_environment(torch.device("cpu"))
    return LayerTable(tuple(rows), plan, where, date)


def measure_paths(kind: LayerKind, plan: MeasurementPlan) -> Iterator[MeasuredPath]:
    """Yield the encoder's maximum path length at each n in `plan.paths`, then the decoder's."""
    sizes = build_sizes(kind, WIDE, plan.k, plan.r)
    for stack, causal in (("encoder", False), ("decoder", True)):
        reach = compute_reach_per_side(kind, sizes, causal=causal)
        for n in plan.paths:
            length = measure_path_length(kind, n, sizes, causal=causal)
            yield MeasuredPath(stack=stack, n=n, length=length, by_hand=kind.path(n, reach))


def measure_point(kind: LayerKind, n: int, d: int, plan: MeasurementPlan) -> MeasuredPoint:
    """Measure a layer's operations, longest chain, time and memory at length n and width d."""
    sizes = build_sizes(kind, d, plan.k, plan.r)
    exact = build_layer(kind, n, sizes, dtype=EXACT)
    operations, projections = count_operations(exact)
    by_hand, projections_by_hand = calculate_operations(n, sizes)
    chain = measure_longest_chain(exact, exact.random_sentence(EXACT))
    update = build_layer(kind, n, sizes).build_update()
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
