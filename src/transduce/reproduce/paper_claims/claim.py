"""A claim of the paper as a value: what is measured, and the range in which the claim holds."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from transduce.reproduce.table_claims import STUDENT

Values = Mapping[str, float]  # what was measured from one seed, by name
# (seed, the trained rows' run folders by the name of the row) -> what was measured
Measure = Callable[[int, Mapping[str, Path]], Values]
ROUNDING = 1e-9


@final
@dataclass(frozen=True)
class Finding:
    """A number computed from a seed's values, and the range in which it supports the claim."""

    says: str
    value: str  # the name of a value, or two names with " / " or " - " between them
    least: float = -math.inf
    most: float = math.inf

    @property
    def expected(self) -> str:
        """The range in which the number supports the claim, in words."""
        if self.least == self.most:
            return f"{self.least:.3g}"
        if math.isinf(self.most):
            return f"over {self.least:.3g}"
        if math.isinf(self.least):
            return f"under {self.most:.3g}"
        return f"{self.least:.3g} to {self.most:.3g}"

    def compute(self, values: Values) -> float:
        """Return the value, ratio or difference that `value` names, from the values of one seed."""
        first, divided, second = self.value.partition(" / ")
        if divided:
            return values[first] / values[second]
        first, _, second = self.value.partition(" - ")
        return values[first] - (values[second] if second else 0.0)

    @property
    def names(self) -> set[str]:
        """The names in the formula `value`, one or two."""
        return {name for part in self.value.split(" / ") for name in part.split(" - ")}

    def judge(self, numbers: Sequence[float], *, is_exact: bool) -> str:
        """Return the verdict, such as "holds", by the 95 % interval of the mean over seeds."""
        if len(numbers) == 1 and not is_exact:
            return "one seed cannot tell"
        low, high = compute_interval(numbers)
        slack = ROUNDING * max(abs(low), abs(high))
        if low >= self.least - slack and high <= self.most + slack:
            return "holds"
        return "holds not" if high < self.least or low > self.most else "within chance"


def compute_interval(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean by Student's t; a single number is both of its ends."""
    mean, count = statistics.fmean(numbers), len(numbers)
    if count == 1:
        return mean, mean
    times = STUDENT[min(count - 1, len(STUDENT)) - 1]
    half = times * statistics.stdev(numbers) / math.sqrt(count)
    return mean - half, mean + half


@final
@dataclass(frozen=True, kw_only=True)
class PaperClaim:
    """A sentence of the paper, and what measures it.

    Differences and ratios are computed for each seed, so that rows are compared within a seed.
    """

    name: str
    section: str
    sentence: str  # the paper's, in our words
    findings: Sequence[Finding]
    measure: Measure
    rows: Sequence[str] = ()  # the trained rows that `measure` needs
    is_exact: bool = False  # whether every seed gives the same numbers, as in arithmetic

    @property
    def names(self) -> set[str]:
        """The names of the values that the findings need."""
        return {name for finding in self.findings for name in finding.names}
