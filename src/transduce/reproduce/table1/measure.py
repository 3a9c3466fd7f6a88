"""Every kind of layer at every size of a plan."""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import final

from transduce.machine.environment import environment
from transduce.reproduce.table1.growth import Growth, fitted
from transduce.reproduce.table1.kinds import KINDS, Kind, projections, side_of
from transduce.reproduce.table1.layer import CPU, layer_of, sizes_of
from transduce.reproduce.table1.operations import EXACT, counted
from transduce.reproduce.table1.plan import Plan
from transduce.reproduce.table1.reach import WIDE, path_length
from transduce.reproduce.table1.trace import longest_chain, peak_bytes


@final
@dataclass(frozen=True, kw_only=True)
class Point:
    """One layer at one size."""

    n: int
    d: int
    operations: int  # of the mixing itself, as torch counted
    by_hand: int
    around: int  # of the projections
    around_by_hand: int
    chain: int  # operations that must wait for one another
    seconds: float  # forward and back, the median of all rounds
    quickest: float
    peak: int  # bytes of tensors that live at once, forward and back


@final
@dataclass(frozen=True, kw_only=True)
class Path:
    """The longest way between two words of a sentence."""

    stack: str  # encoder or decoder
    n: int
    length: int  # as gradients show
    by_hand: int


@final
@dataclass(frozen=True)
class Row:
    """One kind of layer, measured."""

    kind: Kind
    points: tuple[Point, ...]
    paths: tuple[Path, ...]
    plan: Plan

    @property
    def as_derived(self) -> bool:
        """Whether every path has the length of the formula."""
        return all(path.length == path.by_hand for path in self.paths)

    def along_n(self) -> list[Point]:
        """The points of growing n."""
        return sorted((p for p in self.points if p.d == self.plan.middle[1]), key=lambda p: p.n)

    def along_d(self) -> list[Point]:
        """The points of growing d."""
        return sorted((p for p in self.points if p.n == self.plan.middle[0]), key=lambda p: p.d)

    def in_n(self, value: Callable[[Point], float]) -> Growth:
        """How something grows with n."""
        return fitted([p.n for p in self.along_n()], [value(p) for p in self.along_n()])

    def in_d(self, value: Callable[[Point], float]) -> Growth:
        """How something grows with d."""
        return fitted([p.d for p in self.along_d()], [value(p) for p in self.along_d()])


@final
@dataclass(frozen=True)
class Table:
    """All rows, and where they were measured."""

    rows: tuple[Row, ...]
    plan: Plan
    environment: dict[str, str]
    date: str


def measure(plan: Plan, told: Callable[[str], None]) -> Table:
    """Table 1; `told` hears what is being measured."""
    rows = []
    for kind in KINDS:
        told(kind.name)
        points = tuple(point(kind, n, d, plan) for n, d in plan.points())
        rows.append(Row(kind, points, tuple(paths(kind, plan)), plan))
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return Table(tuple(rows), plan, environment(CPU), date)


def paths(kind: Kind, plan: Plan) -> Iterator[Path]:
    """In both stacks."""
    sizes = sizes_of(kind, WIDE, plan.k, plan.r)
    for stack, causal in (("encoder", False), ("decoder", True)):
        side = side_of(kind, sizes, causal=causal)
        for n in plan.paths:
            length = path_length(kind, n, sizes, causal=causal)
            yield Path(stack=stack, n=n, length=length, by_hand=kind.path(n, side))


def point(kind: Kind, n: int, d: int, plan: Plan) -> Point:
    """One layer at one size."""
    sizes = sizes_of(kind, d, plan.k, plan.r)
    exact = layer_of(kind, n, sizes, dtype=EXACT)
    operations, around = counted(exact)
    chain = longest_chain(exact, exact.words(EXACT))
    update = layer_of(kind, n, sizes).update()
    peak = peak_bytes(update)
    rounds = [seconds(update) for _ in range(plan.rounds)]
    return Point(
        n=n,
        d=d,
        operations=operations,
        by_hand=kind.operations(n, sizes),
        around=around,
        around_by_hand=projections(kind, n, sizes),
        chain=chain,
        seconds=statistics.median(rounds),
        quickest=min(rounds),
        peak=peak,
    )


def seconds(run: Callable[[], None]) -> float:
    """Of one run."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun
